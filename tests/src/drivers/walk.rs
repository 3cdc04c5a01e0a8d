//! The walk through the script for drivers that are called from here.

use router::compare::{Answer, Outcome};

use super::Place;
use crate::report::{Case, Report, Step as Ran};
use crate::script::{self, Action, Connect, Statement};

/// A driver: how it connects, and what it does with a connection.
pub(super) trait Driver {
    /// A connection.
    type Session;

    /// What the script calls it in `not_for`.
    fn names(&self) -> &[&str];

    async fn open(&mut self, connect: &Connect) -> Result<Self::Session, Outcome>;

    /// Runs a statement whose text is filled in, and asks for the warnings that it left.
    async fn run(&mut self, session: &mut Self::Session, statement: &Statement, text: &[u8]) -> Answer;

    /// A command that is no statement: what went wrong, if anything did.
    async fn command(&mut self, session: &mut Self::Session, what: &str, schema: &str) -> Option<Outcome>;

    /// Closes a prepared statement, if it has one.
    async fn forget(&mut self, session: &mut Self::Session, handle: &str);

    async fn close(&mut self, session: Self::Session);
}

pub(super) async fn walk<D: Driver>(driver: &mut D, place: &Place<'_>) -> Report {
    fresh(place).await;
    let mut cases = Vec::new();
    for case in &place.script.cases {
        if !case.is_for(place.product, driver.names()) {
            continue;
        }
        let mut sessions: Vec<(&str, Result<D::Session, Outcome>)> = Vec::new();
        let mut steps = Vec::new();
        for step in &case.steps {
            if !step.is_for(driver.names()) {
                continue;
            }
            let known = sessions.iter().position(|(name, _)| *name == step.session);
            if known.is_none() {
                sessions.push((&step.session, driver.open(&case.connect).await));
            }
            let at = known.unwrap_or(sessions.len() - 1);
            let answer = match &mut sessions[at].1 {
                Ok(session) => one(driver, session, &step.action, place).await,
                Err(why) => only(why.clone()),
            };
            steps.push(Ran { sql: step.shown(), answer });
        }
        for (_, session) in sessions {
            if let Ok(session) = session {
                driver.close(session).await;
            }
        }
        cases.push(Case { name: case.name.clone(), steps });
    }
    Report { cases }
}

async fn one<D: Driver>(
    driver: &mut D,
    session: &mut D::Session,
    action: &Action,
    place: &Place<'_>,
) -> Answer {
    match action {
        Action::Run(statement) => {
            let text = script::expand(&statement.sql, place.files);
            driver.run(session, statement, &text).await
        }
        Action::Do { what, schema } => {
            let failed = driver.command(session, what, schema).await;
            Answer { results: failed.into_iter().collect(), warnings: Vec::new() }
        }
        Action::Close(handle) => {
            driver.forget(session, handle).await;
            Answer::default()
        }
    }
}

/// The schema of the script, empty.
pub(super) async fn fresh(place: &Place<'_>) {
    use mysql_async::prelude::Queryable;

    let mut conn = place.server.connect().await;
    let schema = &place.script.schema;
    conn.query_drop(format!("DROP DATABASE IF EXISTS {schema}")).await.expect("the script's schema can go");
    conn.query_drop(format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4")).await.expect("and come");
}

pub(super) fn only(outcome: Outcome) -> Answer {
    Answer { results: vec![outcome], warnings: Vec::new() }
}
