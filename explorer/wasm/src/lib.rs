//! The compiler as the explorer's page asks it: questions and answers are JSON, and a [`Session`] holds the shader between them.
//!
//! Nothing is decided here: every answer is that of a function of the library, in the units of the page. Positions count UTF-16
//! units, as JavaScript's strings do.

#[cfg(target_family = "wasm")]
mod abi;
mod answer;
mod choices;
mod draw;
mod emit;
mod files;
mod matrix;
mod open;
mod question;
mod steps;
mod trial;
mod units;

use open::Open;
use question::Question;
use serde::Serialize;
use trial::Ran;

/// A page's shader, and the run that was made of it last.
#[derive(Default)]
pub struct Session {
    open: Option<Open>,
    ran: Option<Ran>,
}

impl Session {
    /// The answer to a question; `{"error": …}` where there is none.
    pub fn answer(&mut self, question: &str) -> String {
        let answered = serde_json::from_str(question).map_err(|error| error.to_string());
        let answered: Result<String, String> = answered.and_then(|question| self.ask(question));
        answered.unwrap_or_else(|error| json(&answer::Failed { error }))
    }

    fn ask(&mut self, question: Question) -> Result<String, String> {
        Ok(match question {
            Question::Profiles => json(&answer::profiles()),
            Question::Open(shader) => {
                let open = Open::new(shader)?;
                let opened = json(&open.answer());
                self.open = Some(open);
                opened
            }
            Question::Complete(position) => json(&self.open()?.completions(&position)),
            Question::Hover(position) => json(&self.open()?.hover(&position)),
            Question::Explain { operation } => json(&self.open()?.explain(operation)?),
            Question::Check => json(&matrix::check(self.open()?)),
            Question::Run(request) => {
                let (ran, answer) = trial::run(self.open()?, &request)?;
                self.ran = ran;
                json(&answer)
            }
            Question::Steps { operation, execution, run } => {
                json(&steps::steps(self.open()?, operation, execution, &run)?)
            }
            Question::Draw { lanes, fills } => json(&draw::draw(self.open()?, lanes, &fills)?),
            Question::Emit { profile, form } => json(&emit::emit(self.open()?, &profile, form)?),
            Question::Wgsl { lanes } => json(&self.open()?.wgsl(lanes)?),
            Question::Compare { words, within } => {
                json(&self.ran.as_ref().ok_or("nothing was run")?.compare(words, within)?)
            }
        })
    }

    fn open(&self) -> Result<&Open, String> {
        self.open.as_ref().ok_or_else(|| "no shader is open".into())
    }
}

fn json(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}
