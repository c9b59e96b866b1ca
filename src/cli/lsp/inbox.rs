//! The client's messages. A thread reads them while the server works, so that pending messages are known: consecutive
//! edits count as one, and a request that is cancelled before its turn is not computed.

use lsp_server::{Message, RequestId};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

/// The largest message, in bytes.
const MOST: usize = 64 << 20;

/// Something that the client sent.
pub enum Received {
    Message(Message),
    /// A request that the client has cancelled.
    Cancelled(RequestId),
    /// Bytes that are not a message, with the number of the request that they seem to be.
    Unreadable {
        id: Option<RequestId>,
        why: String,
    },
}

/// The messages that have arrived and were not taken yet.
pub struct Inbox {
    receiver: Receiver<Received>,
    waiting: VecDeque<Received>,
}

impl Inbox {
    /// The messages on standard input.
    pub fn of_stdin() -> Inbox {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let mut input = BufReader::new(io::stdin());
            while let Ok(Some(received)) = receive(&mut input) {
                if sender.send(received).is_err() {
                    break;
                }
            }
        });
        Inbox { receiver, waiting: VecDeque::new() }
    }

    /// The next message, if one arrives in time.
    pub fn before(&mut self, deadline: Instant) -> Option<Received> {
        self.collect();
        if self.waiting.is_empty() {
            match self.receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(received) => self.waiting.push_back(received),
                Err(_) => return None,
            }
        }
        self.waiting.pop_front()
    }

    /// The next message; `None` if the client has disconnected.
    pub fn next(&mut self) -> Option<Received> {
        self.collect();
        self.waiting.pop_front().or_else(|| self.receiver.recv().ok())
    }

    /// Takes all messages that have arrived. Requests that a later message cancels become [`Received::Cancelled`].
    fn collect(&mut self) {
        while let Ok(received) = self.receiver.try_recv() {
            match cancelled(&received) {
                Some(id) => self.cancel(&id),
                None => self.waiting.push_back(received),
            }
        }
    }

    fn cancel(&mut self, id: &RequestId) {
        let is_meant =
            |received: &Received| matches!(received, Received::Message(Message::Request(of)) if of.id == *id);
        if let Some(at) = self.waiting.iter().position(is_meant) {
            self.waiting[at] = Received::Cancelled(id.clone());
        }
    }
}

/// The request that a message cancels, if it does.
fn cancelled(received: &Received) -> Option<RequestId> {
    match received {
        Received::Message(Message::Notification(of)) if of.method == "$/cancelRequest" => {
            serde_json::from_value(of.params.get("id")?.clone()).ok()
        }
        _ => None,
    }
}

/// Reads a message: headers, an empty line, and as many bytes as the header `Content-Length` states. If a message is
/// too large or has no length, its bytes are skipped up to the next such header.
fn receive(input: &mut impl BufRead) -> io::Result<Option<Received>> {
    let mut length = None;
    let length = loop {
        let mut line = Vec::new();
        if input.by_ref().take(MOST as u64).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if let Some(found) = length_in(&line) {
            if found > MOST {
                let why = format!("a message of more than {MOST} bytes is not read");
                return Ok(Some(Received::Unreadable { id: None, why }));
            }
            length = Some(found);
        }
        if let Some(length) = length.filter(|_| line.trim_ascii().is_empty()) {
            break length;
        }
    };
    let mut body = Vec::new();
    input.by_ref().take(length as u64).read_to_end(&mut body)?;
    Ok((body.len() == length).then(|| parsed(&body)))
}

/// The number after `Content-Length:`, anywhere in the line. An invalid number counts as too large.
fn length_in(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let mut places = line.windows(NAME.len());
    let at = places.rposition(|window| window.eq_ignore_ascii_case(NAME))?;
    let number = line[at + NAME.len()..].trim_ascii();
    Some(std::str::from_utf8(number).ok().and_then(|number| number.parse().ok()).unwrap_or(usize::MAX))
}

fn parsed(body: &[u8]) -> Received {
    let error = match serde_json::from_slice(body) {
        Ok(message) => return Received::Message(message),
        Err(error) => error,
    };
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    Received::Unreadable { id, why: format!("this is not a message of the protocol: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut input = text.as_bytes();
        let mut found = Vec::new();
        while let Some(received) = receive(&mut input).unwrap() {
            found.push(match received {
                Received::Message(Message::Request(of)) => format!("{} {}", of.id, of.method),
                Received::Message(_) => "another".into(),
                Received::Cancelled(id) => format!("cancelled {id}"),
                Received::Unreadable { id, .. } => format!("unreadable {id:?}"),
            });
        }
        found
    }

    fn message(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn what_is_unreadable_costs_itself_alone() {
        let right = message(r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{}}"#);
        let wrong = [
            "Content-Length: 99999999999999\r\n\r\n{}",
            "Content-Length: 18446744073709551616\r\n\r\n",
            "Content-Length: -1\r\nContent-Type: x\r\n\r\n{\"a\": 1}",
            "Content-Length: many\r\n\r\n",
        ];
        for wrong in wrong {
            assert_eq!(all(&format!("{wrong}{right}{right}")), ["unreadable None", "7 m", "7 m"], "{wrong}");
        }
        let broken = message("{\"id\":3,");
        assert_eq!(all(&format!("{broken}{right}")), ["unreadable None", "7 m"]);
        let strange = message(r#"{"jsonrpc":"2.0","id":3,"method":[]}"#);
        assert_eq!(all(&format!("noise\r\n\r\n{strange}{right}")), ["unreadable Some(RequestId(I32(3)))", "7 m"]);
        assert_eq!(all("Content-Length: 10\r\n\r\n{}"), [""; 0]);
    }
}
