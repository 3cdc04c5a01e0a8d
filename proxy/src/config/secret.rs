//! Passwords: from the environment, from a file, or in the clear where nobody else can read them.

use std::fmt;

use sql::yaml::{Node, Value};
use zeroize::Zeroizing;

use super::reader::{self, Reader};

const FILE_MAX: u64 = 4096;

/// A password, which is never printed and erased from memory when dropped.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a password.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The password.
    pub(crate) fn expose(&self) -> &Zeroizing<String> {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// `{env: NAME}`, `{file: PATH}` or the text itself. No fault shows any of it.
pub(super) fn read(node: &Node, reader: &Reader<'_>) -> Option<Secret> {
    let faults = reader.faults;
    match &node.value {
        Value::Seq(_) => {
            faults.add(node.span, "expected a password, {env: NAME} or {file: PATH}, found a list");
            None
        }
        Value::Scalar(_) if node.is_null() => {
            faults.add(
                node.span,
                "expected a password, {env: NAME} or {file: PATH}, found nothing; none at all is \"\"",
            );
            None
        }
        Value::Scalar(scalar) => {
            if reader.exposed && !scalar.text.is_empty() {
                faults.add(
                    node.span,
                    "a password in the clear, in a file that everybody on this machine may read: use {env: NAME} or \
                     {file: PATH}, or `chmod o-r` this file",
                );
                return None;
            }
            Some(Secret::new(scalar.text.as_str()))
        }
        Value::Map(_) => {
            let fields = node.fields("a secret", faults)?;
            let (env, file) = (fields.optional("env"), fields.optional("file"));
            fields.finish();
            match (env, file) {
                (Some(env), None) => from_environment(env, reader),
                (None, Some(file)) => from_file(file, reader),
                _ => {
                    faults.add(node.span, "expected either {env: NAME} or {file: PATH}");
                    None
                }
            }
        }
    }
}

fn from_environment(node: &Node, reader: &Reader<'_>) -> Option<Secret> {
    let name = node.text("the name of an environment variable", reader.faults)?;
    let value = (reader.environment)(name);
    if value.is_none() {
        reader.faults.add(node.span, format!("the environment variable {name} is not set, or not UTF-8"));
    }
    value.map(Secret::new)
}

fn from_file(node: &Node, reader: &Reader<'_>) -> Option<Secret> {
    let path = reader.file(node, "the path of a file")?;
    if reader::world_readable(&path) {
        reader
            .faults
            .add(node.span, format!("everybody on this machine may read {}: `chmod o-r` it", path.display()));
        return None;
    }
    match reader::text(&path, FILE_MAX) {
        Ok(text) => {
            let text = Zeroizing::new(text);
            // The newline at a file's end belongs to the editor.
            let line =
                text.strip_suffix('\n').map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text));
            Some(Secret::new(line))
        }
        Err(error) => {
            reader.faults.add(node.span, format!("{} cannot be read: {error}", path.display()));
            None
        }
    }
}
