//! Walks a text once and writes its units, slots and encoding; allocates nothing when warm.

use super::encode::Encoder;
use super::{Kinds, LiteralKind, MAX_UNITS, Marks, Scan, Slot, Unit, UnitKind, list, literal_kind, words};
use crate::flavor::{CharsetClass, Flavor};
use crate::keyword::Keyword;
use crate::lexer::{Lexer, Op, Token, TokenKind};
use crate::verb::Verb;

/// Buffers above these sizes are given back after the next scan.
const KEEP_BYTES: usize = 1 << 20;
const KEEP_UNITS: usize = 1 << 14;

/// A slot number that stands for: hashed by text only because it may name an output column.
const PENDING: u32 = u32::MAX;

/// A reusable scanner, one for each session or core.
#[derive(Debug, Default)]
pub struct Scanner {
    units: Vec<Unit>,
    slots: Vec<Slot>,
    encoder: Encoder,
    frames: Vec<Frame>,
    shape: Vec<Kinds>,
}

/// Where in a query block the current position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clause {
    /// Nothing that matters has been seen.
    None,
    /// The select list.
    Select,
    /// Behind GROUP or ORDER, before BY.
    Group,
    Order,
    /// The list of GROUP BY.
    GroupBy,
    /// The list of ORDER BY; `fresh` right behind BY or a comma, where digits are a position.
    OrderBy {
        fresh: bool,
    },
    /// Any other clause.
    Other,
}

/// A parenthesis, or the statement itself.
#[derive(Clone, Copy, Debug)]
struct Frame {
    clause: Clause,
    /// Literals count by their text.
    text: bool,
    /// The frame stands inside an item that may name an output column.
    naming: bool,
}

const ROOT: Frame = Frame { clause: Clause::None, text: false, naming: false };

/// The item of the select list that is being read, in the innermost frame that has its own names.
#[derive(Clone, Copy, Debug)]
struct Item {
    encoded: usize,
    unit: usize,
    /// It holds a literal whose slot is `PENDING`.
    pending: bool,
    /// AS was seen: what follows is the alias.
    aliased: bool,
    /// A unit was seen, so gaps count.
    begun: bool,
}

struct Pass<'s, 't> {
    scanner: &'s mut Scanner,
    text: &'t [u8],
    lexer: Lexer<'t>,
    marks: Marks,
    frame: Frame,
    item: Item,
    before: [Option<UnitKind>; 2],
    end: u32,
    semicolon: Option<Token>,
    /// The first word of the current statement has been seen.
    begun: bool,
    /// It is INSERT or REPLACE: the outermost select list names nothing.
    insert: bool,
}

impl Scanner {
    /// A scanner without memory.
    pub fn new() -> Scanner {
        Scanner::default()
    }

    /// Reads a text. A charset of class `Unsafe` is not lexed: no units, marked `ERROR`, the digest is that of the bytes.
    pub fn scan<'s>(&'s mut self, text: &[u8], flavor: Flavor) -> Scan<'s> {
        self.clear();
        if flavor.charset == CharsetClass::Unsafe {
            self.encoder.raw(text);
            return self.finish(Verb::Other, Marks::ERROR);
        }
        let mut pass = Pass {
            lexer: Lexer::new(text, flavor),
            text,
            marks: Marks::empty(),
            frame: ROOT,
            item: Item::at(0, 0),
            before: [None; 2],
            end: 0,
            semicolon: None,
            begun: false,
            insert: false,
            scanner: self,
        };
        while let Some(token) = pass.lexer.next() {
            pass.token(token);
        }
        pass.end_item();
        let marks = pass.marks;
        let (verb, compound) = words::classify(&self.units, text);
        self.finish(verb, if compound { marks | Marks::COMPOUND } else { marks })
    }

    fn clear(&mut self) {
        self.units.clear();
        self.units.shrink_to(KEEP_UNITS.max(self.units.len()));
        self.slots.clear();
        self.slots.shrink_to(KEEP_UNITS);
        self.frames.clear();
        self.frames.shrink_to(KEEP_UNITS);
        self.encoder.clear();
        self.encoder.shrink(KEEP_BYTES);
    }

    fn finish(&mut self, verb: Verb, marks: Marks) -> Scan<'_> {
        Scan { digest: self.encoder.digest(), verb, marks, units: &self.units, slots: &self.slots }
    }
}

impl Item {
    fn at(encoded: usize, unit: usize) -> Item {
        Item { encoded, unit, pending: false, aliased: false, begun: false }
    }
}

impl<'t> Pass<'_, 't> {
    fn bytes(&self, start: u32, end: u32) -> &'t [u8] {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Whether the current position may name an output column.
    fn naming(&self) -> bool {
        self.frame.naming || self.own_item()
    }

    /// Whether the current frame is a select list whose names matter by themselves.
    fn own_item(&self) -> bool {
        self.frame.clause == Clause::Select
            && !self.frame.naming
            && !(self.insert && self.scanner.frames.is_empty())
    }

    #[inline]
    fn token(&mut self, token: Token) {
        let bytes = self.bytes(token.start, token.end);
        if token.kind == TokenKind::Comment {
            if list::is_pragma(bytes) {
                self.marks |= Marks::PRAGMA_OFF;
            }
            return;
        }
        if let Some(semicolon) = self.semicolon.take() {
            self.marks |= Marks::MULTI;
            self.emit(semicolon, UnitKind::Punct(b';'), &[]);
        }
        match token.kind {
            TokenKind::Word => match Keyword::of(bytes) {
                Some(keyword) => self.keyword(token, keyword, bytes),
                None => self.emit(token, UnitKind::Word, bytes),
            },
            TokenKind::Ident => self.emit(token, UnitKind::Word, bytes),
            TokenKind::QuotedIdent => self.emit(token, UnitKind::QuotedIdent, bytes),
            TokenKind::Introducer => self.emit(token, UnitKind::Introducer, bytes),
            TokenKind::UserVar => {
                self.marks |= Marks::USER_VAR;
                self.emit(token, UnitKind::UserVar, bytes);
            }
            TokenKind::SysVar => {
                self.marks |= Marks::SYS_VAR;
                self.emit(token, UnitKind::SysVar, bytes);
            }
            TokenKind::Op(op) => {
                if op == Op::Assign {
                    self.marks |= Marks::ASSIGN;
                }
                self.emit(token, UnitKind::Op(op), bytes);
            }
            TokenKind::Punct(byte) => self.punct(token, byte, bytes),
            TokenKind::Hint => {
                self.marks |= Marks::HINT;
                self.emit(token, UnitKind::Hint, bytes);
            }
            TokenKind::ExecutableComment => {
                self.marks |= Marks::EXECUTABLE_COMMENT;
                self.emit(token, UnitKind::ExecutableComment, bytes);
            }
            TokenKind::Error => {
                self.marks |= Marks::ERROR;
                self.emit(token, UnitKind::Error, bytes);
            }
            kind => match literal_kind(kind, bytes) {
                Some(kind) => self.literal(token, kind, bytes),
                None => self.emit(token, UnitKind::Error, bytes),
            },
        }
    }

    fn keyword(&mut self, token: Token, keyword: Keyword, bytes: &[u8]) {
        use Keyword as K;
        let kind = UnitKind::Keyword(keyword);
        if !self.begun {
            self.insert = matches!(keyword, K::Insert | K::Replace);
            self.frame.text = keyword == K::Set;
        }
        match keyword {
            K::Select => {
                self.emit(token, kind, bytes);
                self.frame.clause = Clause::Select;
                if self.own_item() {
                    self.begin_item();
                }
                return;
            }
            K::From
            | K::Where
            | K::Having
            | K::Limit
            | K::Into
            | K::Window
            | K::Procedure
            | K::Union
            | K::Except
            | K::Intersect => {
                if keyword == K::Into {
                    self.marks |= Marks::INTO;
                }
                self.clause(Clause::Other);
            }
            // GROUP and ORDER are reserved; beside dots they are no keywords.
            K::Group => self.clause(Clause::Group),
            K::Order => self.clause(Clause::Order),
            K::By if self.frame.clause == Clause::Group => self.clause(Clause::GroupBy),
            K::By if self.frame.clause == Clause::Order => {
                self.emit(token, kind, bytes);
                self.frame.clause = Clause::OrderBy { fresh: true };
                return;
            }
            K::As => {
                if self.own_item() && !self.item.aliased {
                    self.alias();
                } else if !self.scanner.frames.is_empty() && self.frame.clause == Clause::None {
                    // CAST(x AS DECIMAL(10,2)): the type's arguments are no values.
                    self.frame.text = true;
                }
            }
            K::Update | K::Share if self.before[0] == Some(UnitKind::Keyword(K::For)) => {
                self.marks |= Marks::LOCKING;
            }
            K::Share if self.before[0] == Some(UnitKind::Keyword(K::In)) => {
                self.marks |= Marks::LOCKING;
            }
            K::For if self.scanner.frames.is_empty() => {
                // SET STATEMENT … FOR ends what SET began.
                self.frame.text = false;
            }
            K::SqlCalcFoundRows => self.marks |= Marks::CALC_FOUND_ROWS,
            _ => {}
        }
        self.emit(token, kind, bytes);
    }

    fn clause(&mut self, clause: Clause) {
        self.end_item();
        self.frame.clause = clause;
    }

    fn punct(&mut self, token: Token, byte: u8, bytes: &[u8]) {
        match byte {
            b'(' => self.open(token, bytes),
            b')' => {
                self.end_item();
                if let Some(frame) = self.scanner.frames.pop() {
                    self.frame = frame;
                }
                self.emit(token, UnitKind::Punct(byte), bytes);
            }
            b',' => {
                if self.own_item() {
                    self.end_item();
                    self.emit(token, UnitKind::Punct(byte), bytes);
                    self.begin_item();
                    return;
                }
                self.emit(token, UnitKind::Punct(byte), bytes);
                if let Clause::OrderBy { fresh } = &mut self.frame.clause {
                    *fresh = true;
                }
            }
            b';' => {
                self.end_item();
                self.scanner.frames.clear();
                self.frame = ROOT;
                self.begun = false;
                self.insert = false;
                self.semicolon = Some(token);
            }
            _ => self.emit(token, UnitKind::Punct(byte), bytes),
        }
    }

    fn open(&mut self, token: Token, bytes: &[u8]) {
        let after_in = UnitKind::Keyword(Keyword::In);
        let counts_by_text = self.frame.text || self.naming() || self.frame.clause == Clause::GroupBy;
        if !counts_by_text {
            if self.before[0] == Some(after_in)
                && let Some((kinds, found)) = list::list(self.text, self.lexer)
            {
                return self.collapse(token, UnitKind::List(kinds), found);
            }
            let values = matches!(self.before[0], Some(UnitKind::Keyword(Keyword::Values | Keyword::Value)));
            let tuples = self.before == [Some(UnitKind::Punct(b'(')), Some(after_in)];
            // A run of one shape ends where the next begins.
            let next_run = self.before[0] == Some(UnitKind::Punct(b','))
                && matches!(self.before[1], Some(UnitKind::Rows { .. }));
            if values || tuples || next_run {
                let mut shape = std::mem::take(&mut self.scanner.shape);
                let found = list::rows(self.text, self.lexer, &mut shape);
                let columns = u32::try_from(shape.len()).unwrap_or(u32::MAX);
                self.scanner.shape = shape;
                if let Some(found) = found {
                    return self.collapse(token, UnitKind::Rows { columns }, found);
                }
            }
        }
        // Parentheses do not hide a position either: `ORDER BY (2)`.
        let position = self.frame.clause == Clause::OrderBy { fresh: true };
        self.emit(token, UnitKind::Punct(b'('), bytes);
        self.scanner.frames.push(self.frame);
        self.frame =
            Frame { clause: Clause::None, text: counts_by_text || position, naming: self.naming_below() };
    }

    /// Whether a parenthesis opened here stands inside a naming item. `frames` already holds the current frame.
    fn naming_below(&self) -> bool {
        let insert_list = self.insert && self.scanner.frames.len() == 1;
        self.frame.naming || (self.frame.clause == Clause::Select && !insert_list)
    }

    fn collapse(&mut self, open: Token, kind: UnitKind, found: list::Found<'t>) {
        if found.pragma {
            self.marks |= Marks::PRAGMA_OFF;
        }
        self.lexer = found.lexer;
        let token = Token { end: found.end, ..open };
        self.emit(token, kind, &[]);
    }

    fn literal(&mut self, token: Token, kind: LiteralKind, bytes: &[u8]) {
        let fixed = matches!(self.frame.clause, Clause::GroupBy | Clause::OrderBy { fresh: true });
        let slot = if kind == LiteralKind::Param {
            self.marks |= Marks::PARAM;
            Some(self.new_slot(kind))
        } else if self.own_item() && self.item.aliased {
            None
        } else if self.naming() {
            // GROUP BY inside a subquery of the item stays fixed when the item turns out to have an alias.
            if fixed || (self.frame.text && !self.frame.naming) {
                None
            } else {
                self.item.pending = true;
                Some(PENDING)
            }
        } else if self.frame.text || fixed {
            None
        } else {
            Some(self.new_slot(kind))
        };
        self.emit(token, UnitKind::Literal { kind, slot }, bytes);
    }

    /// The number of a slot for the unit that is emitted next.
    fn new_slot(&mut self, kind: LiteralKind) -> u32 {
        let slot = self.scanner.slots.len() as u32;
        if self.scanner.units.len() < MAX_UNITS {
            self.scanner.slots.push(Slot { unit: self.scanner.units.len() as u32, kind });
        }
        slot
    }

    #[inline]
    fn emit(&mut self, token: Token, kind: UnitKind, bytes: &[u8]) {
        let naming = self.naming();
        if naming && self.item.begun {
            let gap = self.bytes(self.end, token.start);
            self.scanner.encoder.gap(gap);
        }
        self.item.begun = true;
        let adjacent = self.end == token.start;
        self.encode(kind, bytes, naming, adjacent);
        if self.scanner.units.len() < MAX_UNITS {
            self.scanner.units.push(Unit { start: token.start, end: token.end, kind });
        } else {
            self.marks |= Marks::LONG;
        }
        if kind != UnitKind::Punct(b'(') {
            self.begun = true;
        }
        // Signs do not end the place of a position: the servers read `ORDER BY +2` as `ORDER BY 2`.
        if let Clause::OrderBy { fresh } = &mut self.frame.clause
            && !matches!(kind, UnitKind::Op(Op::Plus | Op::Minus))
        {
            *fresh = false;
        }
        self.before = [Some(kind), self.before[0]];
        self.end = token.end;
    }

    #[inline]
    fn encode(&mut self, kind: UnitKind, bytes: &[u8], naming: bool, adjacent: bool) {
        let word_before = match self.before[0] {
            Some(UnitKind::Word) => true,
            Some(UnitKind::Keyword(keyword)) => !keyword.reserved(),
            _ => false,
        };
        let encoder = &mut self.scanner.encoder;
        match kind {
            UnitKind::Keyword(keyword) if keyword.reserved() && !naming => encoder.keyword(keyword),
            UnitKind::Keyword(_) | UnitKind::Word | UnitKind::QuotedIdent => encoder.word(bytes),
            UnitKind::Literal { kind, slot: None | Some(PENDING) } => encoder.text(kind, bytes),
            UnitKind::Literal { kind, .. } => encoder.slot(kind),
            UnitKind::List(kinds) => encoder.list(kinds),
            UnitKind::Rows { .. } => encoder.rows(&self.scanner.shape),
            UnitKind::Op(op) => {
                encoder.op(op);
                // `!=` and `<>` name different columns.
                if naming {
                    encoder.raw(bytes);
                }
            }
            UnitKind::Punct(b'(') if adjacent && word_before => encoder.call(),
            UnitKind::Punct(byte) => encoder.punct(byte),
            UnitKind::Introducer
            | UnitKind::UserVar
            | UnitKind::SysVar
            | UnitKind::Hint
            | UnitKind::ExecutableComment
            | UnitKind::Error => encoder.raw(bytes),
        }
    }

    fn begin_item(&mut self) {
        self.item = Item::at(self.scanner.encoder.len(), self.scanner.units.len());
    }

    /// The item has no alias (or its alias is behind it): what is pending stays text.
    fn end_item(&mut self) {
        if !self.own_item() || !self.item.pending {
            return;
        }
        for unit in self.scanner.units.iter_mut().skip(self.item.unit) {
            if let UnitKind::Literal { slot, .. } = &mut unit.kind
                && *slot == Some(PENDING)
            {
                *slot = None;
            }
        }
        self.item.pending = false;
    }

    /// The item has an alias, so its spelling names nothing: it is encoded anew, pending literals become slots.
    fn alias(&mut self) {
        self.item.aliased = true;
        if self.marks.contains(Marks::LONG) {
            return;
        }
        self.item.pending = false;
        self.scanner.encoder.truncate(self.item.encoded);
        let mut before = [None; 2];
        std::mem::swap(&mut before, &mut self.before);
        let mut end = 0;
        // Slots are numbered in order, so those of parameters in the item are numbered again as well.
        let first = self.item.unit as u32;
        while self.scanner.slots.last().is_some_and(|slot| slot.unit >= first) {
            self.scanner.slots.pop();
        }
        for index in self.item.unit..self.scanner.units.len() {
            let Some(mut unit) = self.scanner.units.get(index).copied() else {
                break;
            };
            if let UnitKind::Literal { kind, slot } = &mut unit.kind
                && slot.is_some()
            {
                *slot = Some(self.scanner.slots.len() as u32);
                self.scanner.slots.push(Slot { unit: index as u32, kind: *kind });
            }
            let bytes = self.bytes(unit.start, unit.end);
            self.encode(unit.kind, bytes, false, end == unit.start);
            self.before = [Some(unit.kind), self.before[0]];
            end = unit.end;
            if let Some(stored) = self.scanner.units.get_mut(index) {
                *stored = unit;
            }
        }
        self.before = before;
    }
}
