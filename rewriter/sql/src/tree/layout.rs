//! Parentheses and clauses, read from the units: where to cut.

use std::ops::Range;

use super::Statement;
use crate::digest::{Unit, UnitKind};
use crate::keyword::Keyword;

/// For each unit its depth and, for parentheses, its partner.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Parentheses open before the unit; a parenthesis itself has the depth outside of it.
    depths: Vec<u32>,
    /// The other parenthesis of a pair; a unit's own number elsewhere.
    partners: Vec<u32>,
}

impl Layout {
    /// `None` where parentheses do not match.
    pub(super) fn of(units: &[Unit]) -> Option<Layout> {
        let mut depths = Vec::with_capacity(units.len());
        let mut partners: Vec<u32> = (0..u32::try_from(units.len()).ok()?).collect();
        let mut open: Vec<u32> = Vec::new();
        for (index, unit) in (0u32..).zip(units) {
            if unit.is_punct(b')') {
                let from = open.pop()?;
                *partners.get_mut(from as usize)? = index;
                *partners.get_mut(index as usize)? = from;
            }
            depths.push(u32::try_from(open.len()).ok()?);
            if unit.is_punct(b'(') {
                open.push(index);
            }
        }
        open.is_empty().then_some(Layout { depths, partners })
    }

    pub(super) fn deepest(&self) -> u32 {
        self.depths.iter().copied().max().unwrap_or(0)
    }
}

impl Statement {
    /// How many parentheses are open before a unit; a parenthesis has the depth outside of it.
    pub fn depth(&self, unit: u32) -> u32 {
        self.layout.depths.get(unit as usize).copied().unwrap_or(0)
    }

    /// The other parenthesis of a pair.
    pub fn partner(&self, unit: u32) -> Option<u32> {
        let partner = *self.layout.partners.get(unit as usize)?;
        (partner != unit).then_some(partner)
    }

    /// All units.
    pub fn all(&self) -> Range<u32> {
        0..u32::try_from(self.units().len()).unwrap_or(u32::MAX)
    }

    /// The units of a range that stand at the depth of its first unit.
    pub fn level(&self, range: Range<u32>) -> impl Iterator<Item = (u32, &Unit)> {
        let depth = self.depth(range.start);
        range.filter_map(move |index| {
            let unit = self.units().get(index as usize)?;
            (self.depth(index) == depth).then_some((index, unit))
        })
    }

    /// The first unit of the range that is this keyword, at the depth of the range's first unit.
    pub fn find(&self, range: Range<u32>, keyword: Keyword) -> Option<u32> {
        self.level(range).find(|(_, unit)| unit.is(keyword)).map(|(index, _)| index)
    }

    /// As [`find`](Self::find), the last one.
    pub fn find_last(&self, range: Range<u32>, keyword: Keyword) -> Option<u32> {
        self.level(range).filter(|(_, unit)| unit.is(keyword)).last().map(|(index, _)| index)
    }

    /// The set operators of a range, at the depth of its first unit: for each the units from UNION, EXCEPT or
    /// INTERSECT to before the next branch (`UNION`, `UNION ALL`, `UNION DISTINCT`).
    pub fn set_operators(&self, range: Range<u32>) -> Vec<Range<u32>> {
        let is_operator = |unit: &Unit| {
            matches!(unit.kind, UnitKind::Keyword(Keyword::Union | Keyword::Except | Keyword::Intersect))
        };
        self.level(range)
            .filter(|(_, unit)| is_operator(unit))
            .map(|(index, _)| {
                let all = self
                    .units()
                    .get(index as usize + 1)
                    .is_some_and(|next| next.is(Keyword::All) || next.is(Keyword::Distinct));
                index..index + 1 + u32::from(all)
            })
            .collect()
    }

    /// The ORDER BY of the query that a range holds, from ORDER to before what follows it, at the depth of the range's
    /// first unit. Only behind the last set operator: an earlier one would be a syntax error.
    pub fn order_by(&self, range: Range<u32>) -> Option<Range<u32>> {
        let end = range.end;
        let start = self.find_last(range, Keyword::Order)?;
        let stop = self
            .level(start..end)
            .find(|(_, unit)| {
                matches!(
                    unit.kind,
                    UnitKind::Keyword(
                        Keyword::Limit
                            | Keyword::Into
                            | Keyword::For
                            | Keyword::Lock
                            | Keyword::Fetch
                            | Keyword::Offset
                            | Keyword::Procedure
                            | Keyword::Union
                            | Keyword::Except
                            | Keyword::Intersect
                    )
                )
            })
            .map_or(end, |(index, _)| index);
        Some(start..stop)
    }

    /// The LIMIT of the query that a range holds, from LIMIT to before what follows it.
    pub fn limit(&self, range: Range<u32>) -> Option<Range<u32>> {
        let end = range.end;
        let start = self.find_last(range, Keyword::Limit)?;
        let stop = self
            .level(start..end)
            .find(|(_, unit)| {
                matches!(
                    unit.kind,
                    UnitKind::Keyword(
                        Keyword::Into | Keyword::For | Keyword::Lock | Keyword::Procedure | Keyword::Union
                    )
                )
            })
            .map_or(end, |(index, _)| index);
        Some(start..stop)
    }
}
