//! Units become the tokens of the library, each with its unit's number as its position.

use super::engine::{Location, Span, Token, TokenWithSpan, Word, WordToken};
use super::items::{Item, first_row, items};
use super::words::{CALLED, KNOWN, NAMES, TOUCHING};
use super::{MAX_OPERATORS, ParseError};
use crate::digest::{Kinds, LiteralKind, Unit, UnitKind};
use crate::flavor::{Flavor, SqlMode};
use crate::keyword::Keyword;
use crate::lexer::{Op, decode_identifier, decode_string};

fn upper_in(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

fn span(from: usize, to: usize) -> Span {
    Span::new(Location::new(1, from as u64 + 1), Location::new(1, to as u64 + 1))
}

fn plain(value: &str) -> Token {
    Token::Word(WordToken { value: value.to_owned(), quote_style: None, keyword: Word::NoKeyword })
}

struct Writer<'t> {
    text: &'t str,
    units: &'t [Unit],
    flavor: Flavor,
    out: Vec<TokenWithSpan>,
    operators: usize,
}

/// The tokens of a statement.
pub(super) fn tokens(text: &str, units: &[Unit], flavor: Flavor) -> Result<Vec<TokenWithSpan>, ParseError> {
    let mut writer = Writer { text, units, flavor, out: Vec::with_capacity(units.len() + 8), operators: 0 };
    let mut index = 0;
    while index < units.len() {
        index = writer.unit(index)?;
        if writer.operators > MAX_OPERATORS {
            return Err(ParseError::Bounds);
        }
    }
    Ok(writer.out)
}

impl<'t> Writer<'t> {
    fn push(&mut self, from: usize, to: usize, token: Token) {
        self.out.push(TokenWithSpan::new(token, span(from, to)));
    }

    fn source(&self, unit: &Unit) -> &'t str {
        self.text.get(unit.start as usize..unit.end as usize).unwrap_or_default()
    }

    fn is(&self, index: usize, keyword: Keyword) -> bool {
        self.units.get(index).is_some_and(|unit| unit.is(keyword))
    }

    fn opens(&self, index: usize) -> bool {
        self.units.get(index).is_some_and(|unit| {
            unit.is_punct(b'(') || matches!(unit.kind, UnitKind::List(_) | UnitKind::Rows { .. })
        })
    }

    /// Writes the unit at `index`, and others where several are one; the next index.
    fn unit(&mut self, index: usize) -> Result<usize, ParseError> {
        let Some(unit) = self.units.get(index) else {
            return Ok(index + 1);
        };
        let source = self.source(unit);
        let token = match unit.kind {
            UnitKind::Keyword(keyword) => return self.keyword(index, keyword, source),
            UnitKind::Word => self.word(index, unit, source)?,
            UnitKind::QuotedIdent => {
                let name = String::from_utf8(decode_identifier(source.as_bytes())).unwrap_or_default();
                if name.is_empty() {
                    return Err(ParseError::NotCovered("an empty name"));
                }
                Token::Word(WordToken { value: name, quote_style: Some('`'), keyword: Word::NoKeyword })
            }
            UnitKind::Literal { kind, .. } => return self.literal(index, kind),
            UnitKind::List(_) => return self.list(index, unit),
            UnitKind::Rows { .. } => return self.rows(index, unit),
            UnitKind::Introducer | UnitKind::UserVar | UnitKind::SysVar => plain(source),
            UnitKind::Op(op) => self.op(op)?,
            UnitKind::Punct(byte) => match byte {
                b'(' => Token::LParen,
                b')' => Token::RParen,
                b',' => Token::Comma,
                b'.' => Token::Period,
                _ => return Err(ParseError::NotCovered("a brace")),
            },
            UnitKind::Hint => return Ok(index + 1),
            UnitKind::ExecutableComment | UnitKind::Error => {
                return Err(ParseError::NotCovered("an executable comment"));
            }
        };
        self.push(index, index + 1, token);
        Ok(index + 1)
    }

    fn word(&self, index: usize, unit: &Unit, source: &str) -> Result<Token, ParseError> {
        if self.opens(index + 1) {
            let touching = self.units.get(index + 1).is_some_and(|next| next.start == unit.end);
            if !touching && upper_in(TOUCHING, source) && !self.flavor.mode.contains(SqlMode::IGNORE_SPACE) {
                return Err(ParseError::NotCovered("a space before the parenthesis of a function"));
            }
            if upper_in(CALLED, source) {
                return Ok(Token::make_word(source, None));
            }
        }
        let beside_dot = self.units.get(index + 1).is_some_and(|next| next.is_punct(b'.'))
            || index
                .checked_sub(1)
                .and_then(|before| self.units.get(before))
                .is_some_and(|before| before.is_punct(b'.'));
        Ok(if !beside_dot && upper_in(KNOWN, source) {
            Token::make_word(source, None)
        } else {
            plain(source)
        })
    }

    fn keyword(&mut self, index: usize, keyword: Keyword, source: &str) -> Result<usize, ParseError> {
        let token = match keyword {
            Keyword::Mod if self.operand_before(index) => {
                self.operators += 1;
                Token::Mod
            }
            Keyword::Div => {
                self.operators += 1;
                Token::CustomBinaryOperator("DIV".to_owned())
            }
            Keyword::Sounds if self.is(index + 1, Keyword::Like) => {
                self.operators += 1;
                let token = Token::CustomBinaryOperator("SOUNDS LIKE".to_owned());
                self.push(index, index + 2, token);
                return Ok(index + 2);
            }
            // LOCK IN SHARE MODE is FOR SHARE in older words.
            Keyword::Lock
                if self.is(index + 1, Keyword::In)
                    && self.is(index + 2, Keyword::Share)
                    && self.is(index + 3, Keyword::Mode) =>
            {
                self.push(index, index + 2, Token::make_keyword("FOR"));
                self.push(index + 2, index + 4, Token::make_keyword("SHARE"));
                return Ok(index + 4);
            }
            Keyword::Distinctrow => Token::make_keyword("DISTINCT"),
            Keyword::SqlCache | Keyword::SqlNoCache => Token::make_keyword("SQL_NO_CACHE"),
            _ if NAMES.contains(&keyword) => plain(source),
            _ => {
                if matches!(
                    keyword,
                    Keyword::And
                        | Keyword::Or
                        | Keyword::Xor
                        | Keyword::Not
                        | Keyword::Is
                        | Keyword::Like
                        | Keyword::Between
                        | Keyword::In
                        | Keyword::Regexp
                        | Keyword::Rlike
                        | Keyword::Union
                        | Keyword::Except
                        | Keyword::Intersect
                        | Keyword::Join
                ) {
                    self.operators += 1;
                }
                Token::make_word(source, None)
            }
        };
        self.push(index, index + 1, token);
        Ok(index + 1)
    }

    /// Whether what stands before `index` ends an operand, so that MOD is an operator and not a function.
    fn operand_before(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1).and_then(|before| self.units.get(before)) else {
            return false;
        };
        match before.kind {
            UnitKind::Keyword(keyword) => {
                !keyword.reserved()
                    || matches!(
                        keyword,
                        Keyword::Null
                            | Keyword::True
                            | Keyword::False
                            | Keyword::CurrentDate
                            | Keyword::CurrentTime
                            | Keyword::CurrentTimestamp
                            | Keyword::UtcDate
                            | Keyword::UtcTime
                            | Keyword::UtcTimestamp
                            | Keyword::Localtime
                            | Keyword::Localtimestamp
                            | Keyword::DayHour
                            | Keyword::DayMicrosecond
                            | Keyword::DayMinute
                            | Keyword::DaySecond
                            | Keyword::HourMicrosecond
                            | Keyword::HourMinute
                            | Keyword::HourSecond
                            | Keyword::MinuteMicrosecond
                            | Keyword::MinuteSecond
                            | Keyword::SecondMicrosecond
                            | Keyword::YearMonth
                    )
            }
            UnitKind::Op(_) | UnitKind::Hint => false,
            UnitKind::Punct(byte) => byte == b')',
            _ => true,
        }
    }

    fn op(&mut self, op: Op) -> Result<Token, ParseError> {
        self.operators += 1;
        Ok(match op {
            Op::Eq => Token::Eq,
            Op::NullSafeEq => Token::Spaceship,
            Op::Ne => Token::Neq,
            Op::Lt => Token::Lt,
            Op::Le => Token::LtEq,
            Op::Gt => Token::Gt,
            Op::Ge => Token::GtEq,
            Op::Plus => Token::Plus,
            Op::Minus => Token::Minus,
            Op::Star => Token::Mul,
            Op::Slash => Token::Div,
            Op::Percent => Token::Mod,
            Op::Amp => Token::Ampersand,
            Op::Pipe => Token::Pipe,
            Op::Caret => Token::Caret,
            Op::Tilde => Token::Tilde,
            Op::Bang => Token::ExclamationMark,
            Op::ShiftLeft => Token::ShiftLeft,
            Op::ShiftRight => Token::ShiftRight,
            Op::AndAnd => Token::make_keyword("AND"),
            Op::OrOr if self.flavor.mode.contains(SqlMode::PIPES_AS_CONCAT) => Token::StringConcat,
            Op::OrOr => Token::make_keyword("OR"),
            Op::Assign => Token::Assignment,
            Op::Arrow => Token::Arrow,
            Op::LongArrow => Token::LongArrow,
            Op::Colon => return Err(ParseError::NotCovered("a colon")),
        })
    }

    fn value(&self, kind: LiteralKind, source: &str) -> Result<Token, ParseError> {
        let backslash = !self.flavor.mode.contains(SqlMode::NO_BACKSLASH_ESCAPES);
        let decoded = || {
            decode_string(source.as_bytes(), backslash)
                .and_then(|bytes| String::from_utf8(bytes).ok())
                .ok_or(ParseError::NotCovered("a string that is not UTF-8"))
        };
        Ok(match kind {
            LiteralKind::Int | LiteralKind::UInt | LiteralKind::Decimal | LiteralKind::Float => {
                Token::Number(source.to_owned(), false)
            }
            LiteralKind::String => Token::SingleQuotedString(decoded()?),
            LiteralKind::NString => Token::NationalStringLiteral(decoded()?),
            LiteralKind::Hex => Token::HexStringLiteral(digits(source).to_owned()),
            LiteralKind::Bit => Token::SingleQuotedByteStringLiteral(digits(source).to_owned()),
            LiteralKind::Param => Token::Placeholder("?".to_owned()),
        })
    }

    /// A literal; adjacent strings are one.
    fn literal(&mut self, index: usize, kind: LiteralKind) -> Result<usize, ParseError> {
        let Some(unit) = self.units.get(index) else {
            return Ok(index + 1);
        };
        let mut token = self.value(kind, self.source(unit))?;
        let mut end = index + 1;
        while let Some(UnitKind::Literal { kind: LiteralKind::String, .. }) =
            self.units.get(end).map(|unit| unit.kind)
        {
            let Some(next) = self.units.get(end) else { break };
            let Token::SingleQuotedString(more) = self.value(LiteralKind::String, self.source(next))? else {
                break;
            };
            match &mut token {
                Token::SingleQuotedString(so_far) | Token::NationalStringLiteral(so_far) => {
                    so_far.push_str(&more)
                }
                _ => break,
            }
            end += 1;
        }
        self.push(index, end, token);
        Ok(end)
    }

    /// A collapsed list: one item for each kind of literal in it.
    fn list(&mut self, index: usize, unit: &Unit) -> Result<usize, ParseError> {
        let mut seen: Vec<Kinds> = Vec::new();
        self.push(index, index + 1, Token::LParen);
        for item in items(self.source(unit), self.flavor)? {
            if seen.contains(&item.kinds) {
                continue;
            }
            if !seen.is_empty() {
                self.push(index, index + 1, Token::Comma);
            }
            seen.push(item.kinds);
            self.item(index, &item)?;
        }
        self.push(index, index + 1, Token::RParen);
        Ok(index + 1)
    }

    /// A run of rows: its first row.
    fn rows(&mut self, index: usize, unit: &Unit) -> Result<usize, ParseError> {
        let source = self.source(unit);
        let close = first_row(source, self.flavor).ok_or(ParseError::NotCovered("a row"))?;
        self.push(index, index + 1, Token::LParen);
        let row = source.get(..close).unwrap_or_default();
        for (number, item) in items(row, self.flavor)?.iter().enumerate() {
            if number > 0 {
                self.push(index, index + 1, Token::Comma);
            }
            self.item(index, item)?;
        }
        self.push(index, index + 1, Token::RParen);
        Ok(index + 1)
    }

    fn item(&mut self, index: usize, item: &Item<'_>) -> Result<(), ParseError> {
        if let Some(sign) = item.sign {
            self.push(index, index + 1, sign_token(sign));
        }
        let token = match item.literal {
            Some(kind) => self.value(kind, item.source)?,
            None => Token::make_word(item.source, None),
        };
        self.push(index, index + 1, token);
        Ok(())
    }
}

fn sign_token(op: Op) -> Token {
    match op {
        Op::Minus => Token::Minus,
        _ => Token::Plus,
    }
}

/// The digits of `x'…'`, `0x…`, `b'…'`, `0b…`.
fn digits(source: &str) -> &str {
    let body = source.get(2..).unwrap_or_default();
    body.strip_suffix('\'').unwrap_or(body)
}
