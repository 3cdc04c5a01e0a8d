//! The positioned tree: every node knows its units, so that a pattern matched on the tree can be spliced in the text.

use std::ops::Range;

use sql::Op;

/// A node of a statement or of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// What it is; two nodes are alike when their tags are equal and their children are alike.
    pub(crate) tag: Tag,
    /// All of its units.
    pub(crate) range: Range<u32>,
    /// Its operands, in order of the text.
    pub(crate) children: Vec<Node>,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// `c`, `t.c`, `s.t.c`
    Column,
    /// One literal, a parameter too.
    Literal,
    /// NULL, TRUE, FALSE, DEFAULT: a word that is a value.
    Word(sql::Keyword),
    /// `*` in COUNT(*) and in a select list.
    Star,
    /// `t.*`
    QualifiedStar,
    /// The collapsed list of literals behind IN, with its parentheses.
    List,
    /// An expression in parentheses.
    Paren,
    /// `(a, b)`, `ROW(a, b)`
    Row,
    /// AND, with all operands of the chain.
    And,
    /// OR, with all operands of the chain.
    Or,
    /// XOR
    Xor,
    /// NOT, and `!` as well.
    Not,
    /// `-a`, `+a`, `~a`
    Unary(Op),
    /// `a = b`, `a + b`; DIV is `Slash` with [`Tag::Div`].
    Binary(Op),
    /// `a DIV b`
    Div,
    /// `a || b` where `||` concatenates.
    Concat,
    /// `a IS NULL`
    Is {
        /// NULL, TRUE, FALSE or UNKNOWN.
        what: sql::Keyword,
        /// IS NOT
        negated: bool,
    },
    /// `a BETWEEN b AND c`
    Between {
        /// NOT BETWEEN
        negated: bool,
    },
    /// `a IN (b, c)`: the first child, then the others; a collapsed list is one child, a subquery as well.
    In {
        /// NOT IN
        negated: bool,
    },
    /// `a LIKE b`, with ESCAPE as third child.
    Like {
        /// NOT LIKE
        negated: bool,
    },
    /// `a REGEXP b`, `a RLIKE b`
    Regexp {
        /// NOT REGEXP
        negated: bool,
    },
    /// `f(a, b)`, the name in upper case.
    Call {
        /// The function.
        name: String,
        /// `COUNT(DISTINCT …)`
        distinct: bool,
    },
    /// `INTERVAL a DAY`, the unit in upper case.
    Interval(String),
    /// EXISTS, with its subquery.
    Exists,
    /// `(SELECT …)` as a value; its child is the query, where that has a plain shape.
    Subquery,
    /// A form that is delimited but not looked into: CASE, CAST, COLLATE, window functions. Equal to nothing.
    Opaque,

    /// A whole query: its first block, then set operations, ORDER BY, LIMIT.
    Query,
    /// UNION ALL (`true`) or another set operation, with its operand.
    Set(bool),
    /// SELECT with its clauses.
    Block,
    /// DISTINCT and the other words behind SELECT; the texts in upper case.
    Modifiers(Vec<sql::Keyword>),
    /// The select list.
    Items,
    /// `expr AS name`: the expression, and the name as a [`Tag::Name`].
    Item,
    /// A name that is not looked up.
    Name,
    /// FROM with its factors.
    From,
    /// A table with its alias: the reference, then the alias as a [`Tag::Name`].
    Table,
    /// A derived table: its query, then the alias.
    Derived,
    /// How a factor after the first is joined: the factor, then ON.
    Joined(super::JoinKind),
    /// ON
    On,
    /// WHERE
    Where,
    /// GROUP BY
    GroupBy,
    /// WITH ROLLUP
    Rollup,
    /// HAVING
    Having,
    /// ORDER BY
    OrderBy,
    /// A key of ORDER BY and whether it is DESC.
    Key(bool),
    /// LIMIT: the count, then the offset.
    Limit,
}

impl Node {
    pub(crate) fn leaf(tag: Tag, range: Range<u32>) -> Node {
        Node { tag, range, children: Vec::new() }
    }

    pub(crate) fn new(tag: Tag, range: Range<u32>, children: Vec<Node>) -> Node {
        Node { tag, range, children }
    }

    /// The node inside any parentheses.
    pub(crate) fn bare(&self) -> &Node {
        match (&self.tag, self.children.as_slice()) {
            (Tag::Paren, [inner]) => inner.bare(),
            _ => self,
        }
    }

    /// The first child of that tag.
    pub(crate) fn child(&self, tag: &Tag) -> Option<&Node> {
        self.children.iter().find(|child| child.tag == *tag)
    }

    /// The node and everything below it, parents first.
    pub(crate) fn walk<'n>(&'n self, visit: &mut dyn FnMut(&'n Node)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }

    /// Whether it can stand at any place of an expression without parentheses of its own.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(
            self.tag,
            Tag::Column
                | Tag::Literal
                | Tag::Word(_)
                | Tag::Paren
                | Tag::Row
                | Tag::Call { .. }
                | Tag::Subquery
        )
    }
}
