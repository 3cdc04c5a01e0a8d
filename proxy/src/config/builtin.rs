//! The rule packs that are shipped inside the program.

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../rules"]
struct Packs;

/// Name (`builtin:union-limit.yaml`) and text of every shipped rule file, by name.
pub(crate) fn builtin_rules() -> Vec<(String, String)> {
    let mut packs: Vec<(String, String)> = Packs::iter()
        .filter(|name| name.ends_with(".yaml"))
        .filter_map(|name| {
            let text = String::from_utf8(Packs::get(&name)?.data.into_owned()).ok()?;
            Some((format!("builtin:{name}"), text))
        })
        .collect();
    packs.sort();
    packs
}
