//! One cell of the grid: a load, a protocol, a number of client threads.

use clap::ValueEnum;

/// A load of sysbench. Those that only read come first: the last one changes the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Workload {
    /// One row by its primary key
    PointSelect,
    /// Transactions of 14 SELECTs: points, ranges, sums, sorts, DISTINCT
    ReadOnly,
    /// The same with four changes of rows
    ReadWrite,
}

impl Workload {
    /// sysbench's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Workload::PointSelect => "oltp_point_select",
            Workload::ReadOnly => "oltp_read_only",
            Workload::ReadWrite => "oltp_read_write",
        }
    }
}

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// COM_QUERY
    Text,
    /// Prepared once, executed with parameters
    Prepared,
}

impl Protocol {
    /// As the tables call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Protocol::Text => "text",
            Protocol::Prepared => "prepared",
        }
    }

    /// sysbench's word for it (`--db-ps-mode`).
    pub(crate) fn mode(self) -> &'static str {
        match self {
            Protocol::Text => "disable",
            Protocol::Prepared => "auto",
        }
    }
}

/// What is run at every place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) workload: Workload,
    pub(crate) protocol: Protocol,
    pub(crate) threads: u32,
}

impl std::fmt::Display for Cell {
    /// The first columns of a table's line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} | {} | {}", self.workload.name(), self.protocol.name(), self.threads)
    }
}
