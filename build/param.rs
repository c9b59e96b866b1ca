//! The textual form of parameters: `const uint W: width 2..64`, `out bool valid`, `T v`.

use crate::shape;

/// A parsed parameter.
pub struct Param {
    pub name: String,
    /// Type expression as written in the row.
    pub ty: String,
    pub mode: &'static str,
    pub constant: bool,
    /// Rust text for the rule that a constant argument must satisfy.
    rule: String,
}

/// Reads `[const] [in|out|inout|memory|counter] type name [: rule low..high]`.
pub fn parse(text: &str) -> Result<Param, String> {
    let (declaration, rule) = match text.split_once(':') {
        Some((declaration, rule)) => (declaration, parse_rule(rule.trim())?),
        None => (text, "Rule::None".to_string()),
    };
    let mut words: Vec<&str> = declaration.split_whitespace().collect();
    let constant = words.first() == Some(&"const");
    if constant {
        words.remove(0);
    }
    let mode = words.first().and_then(|word| mode(word));
    if mode.is_some() {
        words.remove(0);
    }
    let [ty, name] = words[..] else { return Err(format!("`{text}` is not a parameter")) };
    Ok(Param { name: name.into(), ty: ty.into(), mode: mode.unwrap_or("In"), constant, rule })
}

fn mode(word: &str) -> Option<&'static str> {
    match word {
        "in" => Some("In"),
        "out" => Some("Out"),
        "inout" => Some("InOut"),
        "memory" => Some("Memory"),
        "counter" => Some("Counter"),
        _ => None,
    }
}

fn parse_rule(text: &str) -> Result<String, String> {
    let wrong = || format!("`{text}` is not a rule: `width low..high`, `log2 low..high` or `range low..high`");
    let (kind, bounds) = text.split_once(' ').ok_or_else(wrong)?;
    let (low, high) = bounds.split_once("..").ok_or_else(wrong)?;
    let (low, high): (u32, u32) = (low.parse().map_err(|_| wrong())?, high.parse().map_err(|_| wrong())?);
    match kind {
        "width" => Ok(format!("Rule::Width {{ low: {low}, high: {high} }}")),
        "log2" => Ok(format!("Rule::Log2 {{ low: {low}, high: {high} }}")),
        "range" => Ok(format!("Rule::Range {{ low: {low}, high: {high} }}")),
        _ => Err(wrong()),
    }
}

impl Param {
    /// Rust text for the table entry.
    pub fn rust(&self, generic: bool) -> Result<String, String> {
        let ty = shape::expression(&self.ty, generic)?;
        let Param { name, mode, constant, rule, .. } = self;
        Ok(format!("Param {{ name: {name:?}, ty: {ty}, mode: Mode::{mode}, constant: {constant}, rule: {rule} }}"))
    }
}
