//! Expands patterns in rows: one row with `{Op}` and `{W}` becomes a function for every combination.
//!
//! A pattern parameter `P` has a list of texts, each with a value; in every key of the row, `{P}` stands for the text
//! and `{P:}` for the value. A row with `widths` also has the parameter `W`.

use crate::row::{Constant, Function, Spelling, Table, Values, Variable, WidthForm};
use std::collections::BTreeMap;

/// The widths that the portable interface has names for.
const WIDTHS: [&str; 10] = ["2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"];
/// The parameter added to forms that take the width as an argument.
const WIDTH_PARAM: &str = "const uint W: width 2..1024";

/// A choice for every pattern parameter.
#[derive(Clone, Default)]
struct Choice(Vec<(String, String, String)>);

impl Choice {
    fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_string(), |text, (name, shown, value)| {
            text.replace(&format!("{{{name}:}}"), value).replace(&format!("{{{name}}}"), shown)
        })
    }

    fn fill_all(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.fill(text)).collect()
    }

    fn fill_option(&self, text: &Option<String>) -> Option<String> {
        text.as_ref().map(|text| self.fill(text))
    }

    fn and(&self, name: &str, shown: &str, value: &str) -> Choice {
        let mut more = self.clone();
        more.0.push((name.into(), shown.into(), value.into()));
        more
    }
}

/// The functions that a row expands to.
pub fn function(table: &Table, row: &Function) -> Result<Vec<Function>, String> {
    let mut all = Vec::new();
    for choice in choices(table, &row.with)? {
        for (choice, extra) in widths(&choice, &row.widths) {
            all.push(fill_function(row, &choice, extra));
        }
    }
    Ok(all)
}

fn fill_function(row: &Function, choice: &Choice, extra: Option<&str>) -> Function {
    let mut params = choice.fill_all(&row.params);
    params.extend(extra.map(String::from));
    Function {
        name: choice.fill(&row.name),
        generic: choice.fill_option(&row.generic),
        params,
        returns: choice.fill_option(&row.returns),
        math: choice.fill_option(&row.math),
        unary: choice.fill_option(&row.unary),
        binary: choice.fill_option(&row.binary),
        atomic: choice.fill_option(&row.atomic),
        barrier: choice.fill_option(&row.barrier),
        image: choice.fill_option(&row.image),
        lane: choice.fill_option(&row.lane),
        valid: choice.fill_option(&row.valid),
        special: choice.fill_option(&row.special),
        extensions: row.extensions.as_deref().map(|names| choice.fill_all(names)),
        wgsl: choice.fill_option(&row.wgsl),
        doc: choice.fill(&row.doc),
        ..row.clone()
    }
}

/// The variables that a row expands to.
pub fn variable(table: &Table, row: &Variable) -> Result<Vec<Variable>, String> {
    let fill = |choice: &Choice| Variable {
        name: choice.fill(&row.name),
        ty: choice.fill_option(&row.ty),
        builtin: choice.fill_option(&row.builtin),
        lane: choice.fill_option(&row.lane),
        extensions: row.extensions.as_deref().map(|names| choice.fill_all(names)),
        wgsl: choice.fill_option(&row.wgsl),
        doc: choice.fill(&row.doc),
        ..row.clone()
    };
    Ok(choices(table, &row.with)?.iter().map(fill).collect())
}

/// The constants that a row expands to.
pub fn constant(table: &Table, row: &Constant) -> Result<Vec<Constant>, String> {
    let fill = |choice: &Choice| Constant {
        name: choice.fill(&row.name),
        extensions: row.extensions.as_deref().map(|names| choice.fill_all(names)),
        doc: choice.fill(&row.doc),
        ..row.clone()
    };
    Ok(choices(table, &row.with)?.iter().map(fill).collect())
}

/// The names that a row expands to.
pub fn spelling(table: &Table, row: &Spelling) -> Result<Vec<Spelling>, String> {
    let fill = |choice: &Choice| Spelling {
        names: choice.fill_all(&row.names),
        lane: choice.fill_option(&row.lane),
        ..row.clone()
    };
    Ok(choices(table, &row.with)?.iter().map(fill).collect())
}

fn choices(table: &Table, with: &BTreeMap<String, Values>) -> Result<Vec<Choice>, String> {
    let mut all = vec![Choice::default()];
    for (name, values) in with {
        let values = texts(table, values)?;
        all = all.iter().flat_map(|c| values.iter().map(|(shown, value)| c.and(name, shown, value))).collect();
    }
    Ok(all)
}

fn texts(table: &Table, values: &Values) -> Result<Vec<(String, String)>, String> {
    let map = match values {
        Values::List(list) => return Ok(list.iter().map(|text| (text.clone(), text.clone())).collect()),
        Values::Set(name) => table.sets.get(name).ok_or_else(|| format!("there is no set `{name}`"))?,
        Values::Map(map) => map,
    };
    Ok(map.iter().map(|(text, value)| (text.clone(), value.clone())).collect())
}

/// The choice with each form of the width, and the parameter added by that form.
fn widths(choice: &Choice, forms: &[WidthForm]) -> Vec<(Choice, Option<&'static str>)> {
    if forms.is_empty() {
        return vec![(choice.clone(), None)];
    }
    let mut all = Vec::new();
    for form in forms {
        match form {
            WidthForm::Named => all.extend(WIDTHS.iter().map(|w| (choice.and("W", w, w), None))),
            WidthForm::Argument => all.push((choice.and("W", "", "$W"), Some(WIDTH_PARAM))),
            WidthForm::Subgroup => all.push((choice.and("W", "", "Subgroup"), None)),
        }
    }
    all
}
