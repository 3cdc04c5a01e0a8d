//! MySQL's operator precedence and the forms that the library's own MySQL dialect does not know.
//!
//! From `sql_yacc.yy` of MariaDB 10.11 and MySQL 9.7; both servers' own opinion on every pair of operators is in
//! `tests/fixtures` and compared in a test.

use std::any::TypeId;

use super::ast::{BinaryOperator, CastKind, DataType, DateTimeField, Expr, Ident, Interval, UnaryOperator};
use super::engine::{Dialect, MySqlDialect, Parser, ParserError, Precedence, Token, Word};
use crate::flavor::{Flavor, SqlMode};

const OR: u8 = 10;
const XOR: u8 = 20;
const AND: u8 = 30;
const NOT: u8 = 40;
/// `=` and its kin, IS.
const COMPARE: u8 = 50;
/// BETWEEN, IN, LIKE, REGEXP, MEMBER OF, SOUNDS LIKE.
const PREDICATE: u8 = 60;
const BIT_OR: u8 = 70;
const BIT_AND: u8 = 80;
const SHIFT: u8 = 90;
const SUM: u8 = 100;
const PRODUCT: u8 = 110;
const BIT_XOR: u8 = 120;
const CONCAT: u8 = 130;
const SIGN: u8 = 140;
/// `!`, BINARY, NOT under HIGH_NOT_PRECEDENCE.
const BANG: u8 = 150;
const ARROW: u8 = 170;

/// The dialect of one session.
#[derive(Debug)]
pub(super) struct MySql {
    high_not: bool,
}

impl MySql {
    pub(super) fn new(flavor: Flavor) -> MySql {
        MySql { high_not: flavor.mode.contains(SqlMode::HIGH_NOT_PRECEDENCE) }
    }
}

fn unary(parser: &mut Parser<'_>, op: UnaryOperator, precedence: u8) -> Result<Expr, ParserError> {
    parser.advance_token();
    Ok(Expr::UnaryOp { op, expr: Box::new(parser.parse_subexpr(precedence)?) })
}

fn unit(name: &Ident) -> Option<DateTimeField> {
    let upper = name.value.to_ascii_uppercase();
    Some(match upper.as_str() {
        "YEAR" => DateTimeField::Year,
        "QUARTER" => DateTimeField::Quarter,
        "MONTH" => DateTimeField::Month,
        "WEEK" => DateTimeField::Week(None),
        "DAY" => DateTimeField::Day,
        "HOUR" => DateTimeField::Hour,
        "MINUTE" => DateTimeField::Minute,
        "SECOND" => DateTimeField::Second,
        "MICROSECOND" => DateTimeField::Microsecond,
        "DAY_HOUR" | "DAY_MINUTE" | "DAY_SECOND" | "DAY_MICROSECOND" | "HOUR_MINUTE" | "HOUR_SECOND"
        | "HOUR_MICROSECOND" | "MINUTE_SECOND" | "MINUTE_MICROSECOND" | "SECOND_MICROSECOND"
        | "YEAR_MONTH" => DateTimeField::Custom(name.clone()),
        _ => return None,
    })
}

/// `INTERVAL expr unit`, from INTERVAL on.
fn interval(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.advance_token();
    let value = parser.parse_expr()?;
    let name = parser.parse_identifier()?;
    let Some(field) = unit(&name) else {
        return Err(ParserError::ParserError(format!("{name} is no unit of an interval")));
    };
    Ok(Expr::Interval(Interval {
        value: Box::new(value),
        leading_field: Some(field),
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    }))
}

/// An interval that an operator follows is refused: MariaDB reads `INTERVAL 1 DAY + a = b` as
/// `INTERVAL 1 DAY + (a = b)`.
fn leading_interval(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let found = interval(parser)?;
    match parser.peek_token_ref().token {
        Token::Plus => Err(ParserError::ParserError("an interval before + is not covered".to_owned())),
        _ => Ok(found),
    }
}

fn is_word(token: &Token, word: Word) -> bool {
    matches!(token, Token::Word(found) if found.keyword == word)
}

impl Dialect for MySql {
    /// The library's own checks for MySQL hold for us.
    fn dialect(&self) -> TypeId {
        TypeId::of::<MySqlDialect>()
    }

    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        let token = &parser.peek_token_ref().token;
        Some(match token {
            Token::Minus => unary(parser, UnaryOperator::Minus, SIGN),
            Token::Plus => unary(parser, UnaryOperator::Plus, SIGN),
            Token::Tilde => unary(parser, UnaryOperator::BitwiseNot, SIGN),
            Token::ExclamationMark => unary(parser, UnaryOperator::BangNot, BANG),
            Token::Word(word) => match word.keyword {
                Word::NOT if self.high_not => unary(parser, UnaryOperator::BangNot, BANG),
                Word::NOT => unary(parser, UnaryOperator::Not, NOT),
                Word::BINARY => {
                    parser.advance_token();
                    parser.parse_subexpr(BANG).map(|expr| Expr::Cast {
                        kind: CastKind::Cast,
                        expr: Box::new(expr),
                        data_type: DataType::Binary(None),
                        format: None,
                    })
                }
                Word::INTERVAL => leading_interval(parser),
                Word::NoKeyword
                    if word.value.starts_with('@')
                        && word.quote_style.is_none()
                        && parser.peek_nth_token_ref(1).token == Token::Assignment =>
                {
                    assignment(parser)
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    fn parse_infix(
        &self,
        parser: &mut Parser<'_>,
        expr: &Expr,
        precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        let op = match parser.peek_token_ref().token {
            Token::Plus => BinaryOperator::Plus,
            Token::Minus => BinaryOperator::Minus,
            _ => return None,
        };
        if precedence != SUM || !is_word(&parser.peek_nth_token_ref(1).token, Word::INTERVAL) {
            return None;
        }
        // `a + INTERVAL 1 DAY * 2` is `(a + INTERVAL 1 DAY) * 2`: nothing binds to an interval.
        parser.advance_token();
        Some(interval(parser).map(|right| Expr::BinaryOp {
            left: Box::new(expr.clone()),
            op,
            right: Box::new(right),
        }))
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        let precedence = match &parser.peek_token_ref().token {
            Token::Word(word) => match word.keyword {
                Word::OR => OR,
                Word::XOR => XOR,
                Word::AND => AND,
                Word::IS => COMPARE,
                Word::BETWEEN | Word::IN | Word::LIKE | Word::REGEXP | Word::RLIKE | Word::MEMBER => {
                    PREDICATE
                }
                Word::NOT => match &parser.peek_nth_token_ref(1).token {
                    Token::Word(next) => match next.keyword {
                        Word::BETWEEN | Word::IN | Word::LIKE | Word::REGEXP | Word::RLIKE => PREDICATE,
                        _ => 0,
                    },
                    _ => 0,
                },
                _ => 0,
            },
            Token::Eq | Token::Spaceship | Token::Neq | Token::Lt | Token::LtEq | Token::Gt | Token::GtEq => {
                COMPARE
            }
            Token::CustomBinaryOperator(word) if word == "DIV" => PRODUCT,
            Token::CustomBinaryOperator(_) => PREDICATE,
            Token::Pipe => BIT_OR,
            Token::Ampersand => BIT_AND,
            Token::ShiftLeft | Token::ShiftRight => SHIFT,
            Token::Plus | Token::Minus => SUM,
            Token::Mul | Token::Div | Token::Mod => PRODUCT,
            Token::Caret => BIT_XOR,
            Token::StringConcat => CONCAT,
            Token::Arrow | Token::LongArrow => ARROW,
            _ => 0,
        };
        Some(Ok(precedence))
    }

    fn prec_value(&self, prec: Precedence) -> u8 {
        match prec {
            Precedence::Period => 200,
            Precedence::DoubleColon | Precedence::Colon | Precedence::AtTz | Precedence::PgOther => ARROW,
            Precedence::MulDivModOp => PRODUCT,
            Precedence::PlusMinus => SUM,
            Precedence::Xor => XOR,
            Precedence::Ampersand => BIT_AND,
            Precedence::Caret => BIT_XOR,
            Precedence::Pipe => BIT_OR,
            // The upper bound of BETWEEN is a predicate itself: `a BETWEEN b AND c LIKE d`.
            Precedence::Between => PREDICATE - 1,
            Precedence::Like => PREDICATE,
            Precedence::Eq | Precedence::Is => COMPARE,
            Precedence::UnaryNot => NOT,
            Precedence::And => AND,
            Precedence::Or => OR,
        }
    }

    fn between_low_bound_precedence(&self) -> u8 {
        PREDICATE
    }

    // What follows is never asked, since the tokens are our own, or mirrors the library's MySQL dialect.

    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_alphabetic() || ch == '_' || ch == '$' || ch == '@' || !ch.is_ascii()
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        self.is_identifier_start(ch) || ch.is_ascii_digit()
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }

    fn supports_string_literal_table_alias(&self, _explicit: bool) -> bool {
        false
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        true
    }

    fn supports_singular_value_keyword(&self) -> bool {
        true
    }

    fn require_interval_qualifier(&self) -> bool {
        true
    }

    fn supports_limit_comma(&self) -> bool {
        true
    }

    fn supports_insert_set(&self) -> bool {
        true
    }

    fn is_table_factor_alias(&self, explicit: bool, word: &Word, _parser: &mut Parser<'_>) -> bool {
        explicit
            || (!sqlparser_reserved(word)
                && !matches!(word, Word::USE | Word::IGNORE | Word::FORCE | Word::STRAIGHT_JOIN | Word::LOCK))
    }

    fn supports_table_hints(&self) -> bool {
        true
    }

    fn supports_match_against(&self) -> bool {
        true
    }

    fn supports_select_modifiers(&self) -> bool {
        true
    }

    fn supports_update_order_by(&self) -> bool {
        true
    }

    fn supports_data_type_signed_suffix(&self) -> bool {
        true
    }

    fn supports_cross_join_constraint(&self) -> bool {
        true
    }

    fn supports_double_ampersand_operator(&self) -> bool {
        true
    }

    fn supports_table_partitions(&self) -> bool {
        true
    }

    fn supports_group_by_with_modifier(&self) -> bool {
        true
    }

    fn supports_left_associative_joins_without_parens(&self) -> bool {
        false
    }
}

fn sqlparser_reserved(word: &Word) -> bool {
    super::engine::RESERVED_FOR_TABLE_ALIAS.contains(word)
}

/// `@a := expr`: everything to the right belongs to it.
fn assignment(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let name = parser.parse_identifier()?;
    parser.advance_token();
    Ok(Expr::BinaryOp {
        left: Box::new(Expr::Identifier(name)),
        op: BinaryOperator::Assignment,
        right: Box::new(parser.parse_expr()?),
    })
}
