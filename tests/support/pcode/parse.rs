//! The pseudo-code as a tree.

use super::lex::{Token, tokens};
use super::value::{Sort, Value};

/// An expression. Variables are numbers in the list of names.
#[derive(Debug, Clone)]
pub enum Expression {
    Number(Value),
    Variable(usize),
    /// `.f32`: the same bits as another type.
    Seen(Box<Expression>, u32, Sort),
    Index(Box<Expression>, Box<Expression>),
    /// The last bit, then the first one; if they are the other way round, the bits are reversed too.
    Slice(Box<Expression>, Box<[Expression; 2]>),
    /// `[first +: count]`.
    Part(Box<Expression>, Box<[Expression; 2]>),
    Unary(&'static str, Box<Expression>),
    Binary(&'static str, Box<[Expression; 2]>),
    Choice(Box<[Expression; 3]>),
    Cast(u32, Sort, Box<Expression>),
    Call(String, Vec<Expression>),
    /// The first part has the highest bits.
    Joined(Vec<Expression>),
}

#[derive(Debug, Clone)]
pub enum Statement {
    /// The targets of the value, and the operator before `=` if there is one.
    Assign(Vec<Expression>, &'static str, Expression),
    If(Vec<(Expression, Vec<Statement>)>, Vec<Statement>),
    For(usize, Box<[Expression; 2]>, Vec<Statement>),
    /// A variable's type, and its length if it is an array.
    Declare(usize, u32, Sort, Option<usize>),
    Break,
    Return(Expression),
    Evaluate(Expression),
}

/// A function that a text defines.
#[derive(Debug, Clone)]
pub struct Lambda {
    pub name: String,
    pub parameters: Vec<usize>,
    pub body: Vec<Statement>,
}

#[derive(Debug, Clone, Default)]
pub struct Program {
    pub names: Vec<String>,
    pub lambdas: Vec<Lambda>,
    pub body: Vec<Statement>,
}

impl Program {
    pub fn read(text: &str) -> Result<Self, String> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0, program: Program::default() };
        let body = parser.block()?;
        match parser.peek() {
            None => Ok(Program { body, ..parser.program }),
            Some(token) => Err(format!("{token:?} is in the way")),
        }
    }

    /// The number of a variable, if the text uses it.
    pub fn variable(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    program: Program,
}

/// Binary operators, lowest precedence first.
const LEVELS: [&[&str]; 11] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!=", "<>"],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
    &["**"],
];

const ASSIGNING: [(&str, &str); 9] = [
    ("=", ""),
    ("+=", "+"),
    ("-=", "-"),
    ("*=", "*"),
    ("|=", "|"),
    ("&=", "&"),
    ("^=", "^"),
    ("<<=", "<<"),
    (">>=", ">>"),
];

/// Words that end a block.
const ENDS: [&str; 4] = ["elsif", "else", "endif", "endfor"];

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(own)) if *own == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(own)) if own == word)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is = self.is_sign(sign);
        self.at += usize::from(is);
        is
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.at += usize::from(is);
        is
    }

    fn sign(&mut self, sign: &str) -> Result<(), String> {
        if self.takes(sign) { Ok(()) } else { Err(format!("{sign} is expected instead of {:?}", self.peek())) }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        if self.takes_word(word) { Ok(()) } else { Err(format!("{word} is expected instead of {:?}", self.peek())) }
    }

    fn name(&mut self) -> Result<String, String> {
        let Some(Token::Word(name)) = self.peek() else { return Err(format!("no name is {:?}", self.peek())) };
        let name = name.clone();
        self.at += 1;
        Ok(name)
    }

    fn variable(&mut self, name: String) -> usize {
        let names = &mut self.program.names;
        names.iter().position(|own| *own == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        })
    }

    fn block(&mut self) -> Result<Vec<Statement>, String> {
        let mut statements = Vec::new();
        loop {
            while self.takes(";") {}
            let ends = ENDS.into_iter().any(|word| self.is_word(word)) || self.is_sign(")");
            if ends || self.peek().is_none() {
                return Ok(statements);
            }
            if self.peek() == Some(&Token::Remark) {
                self.at += 1;
            } else if let Some(statement) = self.statement()? {
                statements.push(statement);
            }
        }
    }

    /// A statement; functions are collected separately.
    fn statement(&mut self) -> Result<Option<Statement>, String> {
        if self.takes_word("if") {
            return self.conditional().map(Some);
        }
        if self.takes_word("for") {
            return self.repeated().map(Some);
        }
        if self.takes_word("declare") {
            return self.declaration().map(Some);
        }
        if self.takes_word("break") {
            return Ok(Some(Statement::Break));
        }
        if self.takes_word("return") {
            return Ok(Some(Statement::Return(self.expression()?)));
        }
        self.assignment()
    }

    fn conditional(&mut self) -> Result<Statement, String> {
        let mut arms = Vec::new();
        loop {
            let condition = self.expression()?;
            self.word("then")?;
            arms.push((condition, self.block()?));
            if !self.takes_word("elsif") {
                break;
            }
        }
        let otherwise = if self.takes_word("else") { self.block()? } else { Vec::new() };
        self.word("endif")?;
        Ok(Statement::If(arms, otherwise))
    }

    fn repeated(&mut self) -> Result<Statement, String> {
        let name = self.name()?;
        let variable = self.variable(name);
        self.word("in")?;
        let first = self.expression()?;
        self.sign(":")?;
        let last = self.expression()?;
        self.word("do")?;
        let body = self.block()?;
        self.word("endfor")?;
        Ok(Statement::For(variable, Box::new([first, last]), body))
    }

    fn declaration(&mut self) -> Result<Statement, String> {
        let name = self.name()?;
        let variable = self.variable(name);
        self.sign(":")?;
        let Some(Token::Type(width, sort)) = self.peek().cloned() else { return Err("a type is expected".to_owned()) };
        self.at += 1;
        let mut count = None;
        if self.takes("[") {
            let Some(Token::Number(number)) = self.peek() else { return Err("an array has a size".to_owned()) };
            count = Some(number.bits as usize);
            self.at += 1;
            self.sign("]")?;
        }
        Ok(Statement::Declare(variable, width, sort, count))
    }

    fn assignment(&mut self) -> Result<Option<Statement>, String> {
        let mut places = Vec::new();
        let mut operator = "";
        loop {
            let expression = self.expression()?;
            let found = ASSIGNING.into_iter().find(|(sign, _)| self.is_sign(sign));
            let Some((_, before)) = found else {
                return Ok(Some(match places.is_empty() {
                    true => Statement::Evaluate(expression),
                    false => Statement::Assign(places, operator, expression),
                }));
            };
            self.at += 1;
            if self.takes_word("lambda") {
                return self.lambda(&expression).map(|()| None);
            }
            operator = before;
            places.push(expression);
        }
    }

    fn lambda(&mut self, name: &Expression) -> Result<(), String> {
        let Expression::Variable(name) = name else { return Err("a function has a name".to_owned()) };
        let name = self.program.names[*name].clone();
        let mut parameters = Vec::new();
        self.sign("(")?;
        while !self.takes(")") {
            let parameter = self.name()?;
            parameters.push(self.variable(parameter));
            self.takes(",");
        }
        self.sign("(")?;
        let mut body = self.block()?;
        self.sign(")")?;
        // A body that is an expression alone is the result.
        if let [Statement::Evaluate(result)] = &body[..] {
            body = vec![Statement::Return(result.clone())];
        }
        self.program.lambdas.push(Lambda { name, parameters, body });
        Ok(())
    }

    fn expression(&mut self) -> Result<Expression, String> {
        let condition = self.level(0)?;
        if !self.takes("?") {
            return Ok(condition);
        }
        let yes = self.expression()?;
        self.sign(":")?;
        let no = self.expression()?;
        Ok(Expression::Choice(Box::new([condition, yes, no])))
    }

    fn level(&mut self, level: usize) -> Result<Expression, String> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.is_sign(sign)) {
            self.at += 1;
            left = Expression::Binary(sign, Box::new([left, self.level(level + 1)?]));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, String> {
        for sign in ["-", "+", "~", "!"] {
            if self.takes(sign) {
                return Ok(Expression::Unary(sign, Box::new(self.unary()?)));
            }
        }
        let mut expression = self.primary()?;
        loop {
            if self.takes("[") {
                expression = self.index(expression)?;
            } else if self.takes(".") {
                expression = self.member(expression)?;
            } else {
                return Ok(expression);
            }
        }
    }

    fn index(&mut self, of: Expression) -> Result<Expression, String> {
        let first = self.expression()?;
        let of = Box::new(of);
        let indexed = if self.takes(":") {
            Expression::Slice(of, Box::new([first, self.expression()?]))
        } else if self.takes("+:") {
            Expression::Part(of, Box::new([first, self.expression()?]))
        } else {
            Expression::Index(of, Box::new(first))
        };
        self.sign("]")?;
        Ok(indexed)
    }

    /// A type, or a named part of a register.
    fn member(&mut self, of: Expression) -> Result<Expression, String> {
        let name = self.name()?;
        if let Some((width, sort)) = type_named(&name) {
            return Ok(Expression::Seen(Box::new(of), width, sort));
        }
        let Expression::Variable(register) = of else { return Err(format!("{name} is no part of this")) };
        let whole = format!("{}.{name}", self.program.names[register]);
        Ok(Expression::Variable(self.variable(whole)))
    }

    fn primary(&mut self) -> Result<Expression, String> {
        let token = self.peek().cloned().ok_or("the text ends in an expression")?;
        self.at += 1;
        match token {
            Token::Number(value) => Ok(Expression::Number(value)),
            Token::Type(width, sort) => {
                self.sign("(")?;
                let of = Box::new(self.expression()?);
                self.sign(")")?;
                Ok(Expression::Cast(width, sort, of))
            }
            Token::Sign("(") => {
                let inner = self.expression()?;
                self.sign(")")?;
                Ok(inner)
            }
            Token::Sign("{") => self.list("}").map(Expression::Joined),
            Token::Word(name) if self.takes("(") => Ok(Expression::Call(name, self.list(")")?)),
            Token::Word(name) => Ok(Expression::Variable(self.variable(name))),
            token => Err(format!("{token:?} begins no expression")),
        }
    }

    /// Expressions between commas up to a sign.
    fn list(&mut self, end: &str) -> Result<Vec<Expression>, String> {
        let mut list = Vec::new();
        while !self.takes(end) {
            list.push(self.expression()?);
            if !self.is_sign(end) {
                self.sign(",")?;
            }
        }
        Ok(list)
    }
}

/// The type after a point: `u32`, `f16`, `b8`.
fn type_named(name: &str) -> Option<(u32, Sort)> {
    let (letter, digits) = name.split_at_checked(1)?;
    let sort = Sort::named(&letter.to_ascii_uppercase()).filter(|_| letter != "F")?;
    Some((digits.parse().ok()?, sort))
}
