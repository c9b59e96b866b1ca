//! Reports as one self-contained page: style and pictures are inline, and the page fetches nothing.

mod parts;
mod svg;

use super::listing::Line;
use super::lowering::{Lowering, Rejected};
use super::spanning::{SpanLine, Spanned};
use super::text::{SHARED, capital, count, rejected};
use super::{OnProfile, Operation, ProfileReport, Report};
use std::fmt::{self, Display, Write};

/// Light and dark, narrow and wide.
pub const STYLE: &str = include_str!("html/style.css");

/// The heads of arrows, which all pictures share.
const ARROW: &str = "<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>\
    <marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\">\
    <path class=\"head\" d=\"M0 0 8 4 0 8z\"/></marker></defs></svg>";

/// The page.
pub fn page(report: &Report) -> String {
    let mut page = Page(String::new());
    let title = format!("{}: cross-lane operations", report.input);
    page.put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.element("title", &title);
    page.put(format_args!("<style>\n{STYLE}</style>\n</head>\n<body>\n{ARROW}\n<header>\n"));
    page.element("h1", &title);
    page.contents(report);
    page.put("</header>\n<main>\n");
    report.operations.iter().enumerate().for_each(|(n, operation)| page.operation(n, operation, &report.profiles));
    page.put("</main>\n</body>\n</html>\n");
    page.0
}

/// The section of the page about one operation, for a page with [`STYLE`].
///
/// # Panics
/// When the report has fewer operations.
pub fn section(report: &Report, number: usize) -> String {
    let mut page = Page(ARROW.into());
    page.operation(number, &report.operations[number], &report.profiles);
    page.0
}

/// Text with the characters that HTML reserves escaped.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            c => f.write_char(c),
        })
    }
}

/// A page that grows. Writing into a `String` cannot fail.
struct Page(String);

impl Page {
    fn put(&mut self, text: impl Display) {
        let _ = write!(self.0, "{text}");
    }

    fn element(&mut self, name: &str, text: &str) {
        self.put(format_args!("<{name}>{}</{name}>\n", Escaped(text)));
    }

    /// The profiles, and the operations with links to them.
    fn contents(&mut self, report: &Report) {
        self.put("<ul class=\"chips\">\n");
        for profile in &report.profiles {
            let refused = profile.refused.as_ref().map(|reason| format!(": no: {reason}")).unwrap_or_default();
            let text = format!("{}{refused}", profile.name);
            let description = Escaped(&profile.description);
            self.put(format_args!("<li title=\"{description}\">{}</li>\n", Escaped(&text)));
        }
        self.put("</ul>\n");
        if !report.operations.is_empty() {
            self.put("<nav aria-label=\"Operations\">\n<div class=\"scroll\" tabindex=\"0\">\n");
            self.summary(report);
            self.put("</div>\n</nav>\n");
        }
    }

    /// The operations as a table, with a column for each profile.
    fn summary(&mut self, report: &Report) {
        self.put("<table>\n<thead>\n<tr>\n<th scope=\"col\">operation</th>\n");
        for profile in &report.profiles {
            self.put(format_args!("<th scope=\"col\">{}</th>\n", Escaped(&profile.name)));
        }
        self.put("</tr>\n</thead>\n<tbody>\n");
        for (n, operation) in report.operations.iter().enumerate() {
            let (line, code) = (operation.place.line, Escaped(&operation.place.code));
            let link = format!("<a href=\"#op{n}\"><span>{line}</span> <code>{code}</code></a>");
            // One call can be several operations.
            let is_shared = report.operations.iter().filter(|other| other.place == operation.place).count() > 1;
            let name = if is_shared { format!(" <span>{}</span>", Escaped(&operation.name)) } else { String::new() };
            self.put(format_args!("<tr>\n<th scope=\"row\">{link}{name}</th>\n"));
            operation.profiles.iter().for_each(|answer| self.cell(answer));
            self.put("</tr>\n");
        }
        self.put("</tbody>\n</table>\n");
    }

    /// Instructions, cycles and registers of an operation on a profile, for its most expensive copy.
    fn cell(&mut self, answer: &OnProfile) {
        let lowering = match answer {
            OnProfile::Planned(lowering) => lowering,
            OnProfile::Spanning(answer) => {
                let (extent, cycles) = (answer.extent, answer.extent.latency);
                let mut parts = vec![count(extent.instructions, "instruction")];
                parts.extend((cycles > 0).then(|| count(cycles, "cycle")));
                parts.push(extent.exchange());
                let spans: Vec<String> = parts.iter().map(|part| format!("<span>{part}</span>")).collect();
                return self.put(format_args!("<td>{}</td>\n", spans.join(" ")));
            }
            OnProfile::Gone => return self.put("<td>none left</td>\n"),
            OnProfile::Refused { reason } => {
                return self.put(format_args!("<td class=\"no\" title=\"{}\">no</td>\n", Escaped(reason)));
            }
            OnProfile::Absent => return self.put("<td class=\"no\">not in the source</td>\n"),
        };
        let copies = std::iter::once(&**lowering).chain(&lowering.copies);
        let most = copies.max_by_key(|copy| (copy.instructions(), copy.cost.latency)).unwrap_or(lowering);
        if most.is_shared() {
            return self.put("<td>other code gives it</td>\n");
        }
        let cost = &most.cost;
        let parts =
            [(most.instructions(), "instruction"), (cost.latency, "cycle"), (cost.vectors + cost.scalars, "register")];
        // Empty if the profile has no cycle counts.
        let shown = parts.iter().filter(|(n, what)| *n > 0 || *what == "instruction");
        let lines = shown.map(|(n, what)| format!("<span>{}</span>", count(*n, what)));
        self.put(format_args!("<td>{}</td>\n", lines.collect::<Vec<_>>().join(" ")));
    }

    fn operation(&mut self, n: usize, operation: &Operation, profiles: &[ProfileReport]) {
        let place = &operation.place;
        self.put(format_args!("<section id=\"op{n}\" aria-labelledby=\"op{n}h\">\n"));
        self.put(format_args!("<h2 id=\"op{n}h\"><code>{}</code></h2>\n", Escaped(&place.code)));
        let at = format!("{}:{}:{}", place.file, place.line, place.column);
        self.put(format_args!("<pre class=\"source\"><span>{}</span>{}</pre>\n", Escaped(&at), Escaped(&place.text)));
        self.put(format_args!(
            "<p>{}: <code>{}</code></p>\n",
            Escaped(&capital(&operation.meaning)),
            Escaped(&operation.formula)
        ));
        if let Some(whole) = &operation.part_of {
            self.put(format_args!("<p>{}</p>\n", Escaped(&capital(whole))));
        }
        self.put("<div class=\"profiles\">\n");
        for (k, (profile, answer)) in profiles.iter().zip(&operation.profiles).enumerate() {
            self.put(format_args!("<article aria-labelledby=\"op{n}p{k}\">\n"));
            self.put(format_args!("<h3 id=\"op{n}p{k}\">{}</h3>\n", Escaped(&profile.name)));
            self.answer(answer, &format!("{} on {}", place.code, profile.name));
            self.put("</article>\n");
        }
        self.put("</div>\n</section>\n");
    }

    fn answer(&mut self, answer: &OnProfile, name: &str) {
        match answer {
            OnProfile::Planned(lowering) => {
                self.planned(lowering, name);
                lowering.copies.iter().for_each(|copy| self.planned(copy, name));
            }
            OnProfile::Spanning(spanned) => self.spanned(spanned, name),
            OnProfile::Gone => self.put("<p>Nothing to do: its result is not used, or known without it.</p>\n"),
            OnProfile::Refused { reason } => self.put(format_args!("<p class=\"no\">No: {}</p>\n", Escaped(reason))),
            OnProfile::Absent => self.put("<p class=\"no\">Not in the source for it.</p>\n"),
        }
    }

    fn spanned(&mut self, answer: &Spanned, name: &str) {
        self.put(format_args!("<p class=\"rule\">{}</p>\n", Escaped(&capital(&answer.title()))));
        self.exchange(answer, name);
        self.narrower(answer.narrower.as_deref(), name);
    }

    /// The programs for narrower subgroups, folded.
    fn narrower(&mut self, first: Option<&Spanned>, name: &str) {
        for way in first.into_iter().flat_map(Spanned::ways) {
            self.put(format_args!("<details><summary>{}</summary>\n", Escaped(&capital(&way.title()))));
            self.exchange(way, name);
            self.put("</details>\n");
        }
    }

    /// The picture, the steps and the cost.
    fn exchange(&mut self, answer: &Spanned, name: &str) {
        if let Some(picture) = &answer.picture {
            self.put(parts::figure(picture, name));
        }
        self.put("<ol>\n");
        answer.steps.iter().for_each(|step| self.span_line(step));
        self.put(format_args!(
            "</ol>\n<p>{}.</p>\n<p>{}</p>\n",
            Escaped(&answer.notation()),
            Escaped(&answer.summary())
        ));
    }

    fn span_line(&mut self, step: &SpanLine) {
        let (phase, text) = (step.phase.name(), Escaped(&step.text));
        self.put(format_args!("<li>{phase}: <code>{text}</code>\n"));
        for lowering in step.lowering.iter().flat_map(|first| std::iter::once(&**first).chain(&first.copies)) {
            self.put(format_args!("<p class=\"rule\">{}</p>\n", Escaped(lowering.rule)));
            if !lowering.setup.is_empty() {
                self.put("<h4>Set-up, once</h4>\n");
                self.code(&lowering.setup);
            }
            self.code(&lowering.sequence);
            self.counts(lowering);
        }
        self.put("</li>\n");
    }

    fn planned(&mut self, lowering: &Lowering, name: &str) {
        let (rule, lanes) = (Escaped(lowering.rule), lowering.lanes());
        self.put(format_args!("<p class=\"rule\">{rule}; {lanes}</p>\n"));
        self.put(format_args!("<p>{}</p>\n", Escaped(&lowering.reason())));
        if let Some(reason) = &lowering.unwritten {
            self.put(format_args!("<p class=\"no\">Not written in its language yet: {}</p>\n", Escaped(reason)));
        }
        if !lowering.setup.is_empty() {
            self.put("<h4>Set-up, once</h4>\n");
            self.code(&lowering.setup);
        }
        if !lowering.sequence.is_empty() {
            self.put("<h4>Sequence</h4>\n");
            self.code(&lowering.sequence);
        }
        if lowering.is_shared() {
            self.put(format_args!("<p>{}</p>\n", capital(SHARED)));
        }
        if lowering.proposed {
            self.put("<p>As in the 2016 proposal, whose sequence is the cheapest here.</p>\n");
        }
        self.counts(lowering);
        if let Some(picture) = &lowering.picture {
            self.put(svg::figure(picture, name));
        }
        self.narrower(lowering.narrower.as_deref(), name);
        lowering.rejected.iter().for_each(|other| self.rejected(other));
        for other in &lowering.lacking {
            let (rule, feature) = (Escaped(other.rule), Escaped(other.feature));
            self.put(format_args!("<p class=\"lacking\">Without {rule}: it has no <code>{feature}</code></p>\n"));
        }
    }

    /// Lines, with waits dimmed.
    fn code(&mut self, lines: &[Line]) {
        self.put("<pre class=\"code\" tabindex=\"0\">");
        for line in lines {
            let unit = line.unit.name().to_ascii_lowercase();
            self.put(format_args!("<span class=\"{unit}\">{}</span>\n", Escaped(&line.text)));
        }
        self.put("</pre>\n");
    }

    fn counts(&mut self, lowering: &Lowering) {
        let cost = &lowering.cost;
        let uniform = if lowering.uniform { ", the same in all lanes" } else { "" };
        let instructions = lowering.instructions();
        let mut rows = vec![("instructions".to_owned(), instructions.to_string())];
        if instructions != cost.written() {
            rows.push(("… priced as".into(), cost.written().to_string()));
        }
        if cost.rare > 0 {
            rows.push(("… on the less common way".into(), cost.rare.to_string()));
        }
        rows.extend(lowering.units.iter().map(|unit| (format!("… {}", unit.unit.name()), unit.count.to_string())));
        let others = [
            ("wait states", lowering.wait_states),
            ("cycles", cost.latency),
            ("vector registers", cost.vectors),
            ("scalar registers", cost.scalars),
            ("set-up instructions", cost.setup),
        ];
        let some = others.iter().filter(|(_, n)| *n > 0);
        rows.extend(some.map(|(name, n)| ((*name).to_owned(), n.to_string())));
        if !lowering.results.is_empty() {
            rows.push(("result in".into(), format!("{}{uniform}", lowering.results.join(", "))));
        }
        self.put("<dl>\n");
        for (name, value) in rows {
            self.put(format_args!("<div><dt>{}</dt><dd>{}</dd></div>\n", Escaped(&name), Escaped(&value)));
        }
        self.put("</dl>\n");
    }

    fn rejected(&mut self, other: &Rejected) {
        self.put(format_args!("<details><summary>Instead of {}</summary>\n", Escaped(&rejected(other))));
        if !other.setup.is_empty() {
            self.put(format_args!("<h4>Set-up, {}</h4>\n", count(other.cost.setup, "instruction")));
            self.code(&other.setup);
        }
        self.code(&other.sequence);
        self.put("</details>\n");
    }
}
