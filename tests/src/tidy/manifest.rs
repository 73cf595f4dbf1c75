//! Packages of the workspace, from their manifests.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use toml::Table;

use super::Tree;

/// Package of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    /// Folder relative to the root.
    pub folder: String,
    /// Dependencies and build dependencies, ours or not, without those of its tests.
    pub needs: BTreeSet<String>,
}

/// Returns all packages of the tree, by folder.
///
/// # Errors
/// A manifest is not TOML.
pub fn packages(tree: &Tree) -> anyhow::Result<Vec<Package>> {
    let mut packages = Vec::new();
    for (path, _) in tree.files() {
        let Some(folder) = path.strip_suffix("/Cargo.toml") else { continue };
        let manifest = parse(tree, path)?;
        let name = manifest.get("package").and_then(|package| package.get("name"));
        let name = name.and_then(toml::Value::as_str);
        let name = name.with_context(|| format!("{path} names no package"))?.to_owned();
        packages.push(Package { name, folder: folder.to_owned(), needs: needs(&manifest) });
    }
    Ok(packages)
}

/// Returns the dependencies of each package in `Cargo.lock`, by name. Versions of one name are
/// merged.
///
/// # Errors
/// There is no lock file, or it is not TOML.
pub fn locked(tree: &Tree) -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    let lock = parse(tree, "Cargo.lock")?;
    let mut locked: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in lock.get("package").and_then(toml::Value::as_array).into_iter().flatten() {
        let Some(name) = package.get("name").and_then(toml::Value::as_str) else { continue };
        let needs = package.get("dependencies").and_then(toml::Value::as_array);
        let names = needs.into_iter().flatten().filter_map(toml::Value::as_str);
        // `name version` if the name alone is ambiguous.
        let names = names.filter_map(|need| need.split(' ').next()).map(str::to_owned);
        locked.entry(name.to_owned()).or_default().extend(names);
    }
    Ok(locked)
}

fn parse(tree: &Tree, path: &str) -> anyhow::Result<Table> {
    let text = tree.text(path).with_context(|| format!("{path} is missing or not text"))?;
    text.parse().with_context(|| format!("{path} is not TOML"))
}

fn needs(manifest: &Table) -> BTreeSet<String> {
    let here = ["dependencies", "build-dependencies"].map(|kind| manifest.get(kind));
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let there = targets
        .into_iter()
        .flat_map(Table::values)
        .flat_map(|target| ["dependencies", "build-dependencies"].map(|kind| target.get(kind)));
    let tables = here.into_iter().chain(there).flatten().filter_map(toml::Value::as_table);
    tables.flatten().map(|(key, value)| real_name(key, value)).collect()
}

/// A dependency may have another name than its package.
fn real_name(key: &str, value: &toml::Value) -> String {
    value.get("package").and_then(toml::Value::as_str).unwrap_or(key).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_need_a_package_is_seen() {
        let tree = Tree::of(&[(
            "crates/a/Cargo.toml",
            "[package]\nname = 'a'\n\
             [dependencies]\nb.workspace = true\nother = { path = '../c', package = 'c' }\n\
             [build-dependencies]\nd = '1'\n\
             [target.'cfg(unix)'.dependencies]\ne = '1'\n\
             [dev-dependencies]\nf = '1'\n",
        )]);
        let [package] = &packages(&tree).unwrap()[..] else { panic!("one package") };
        assert_eq!((package.name.as_str(), package.folder.as_str()), ("a", "crates/a"));
        assert_eq!(package.needs, BTreeSet::from(["b", "c", "d", "e"].map(str::to_owned)));
    }

    #[test]
    fn a_lock_file_shows_what_needs_what() {
        let tree = Tree::of(&[(
            "Cargo.lock",
            "[[package]]\nname = 'a'\ndependencies = ['b 1.0.0', 'c']\n\
             [[package]]\nname = 'a'\ndependencies = ['d']\n[[package]]\nname = 'b'\n",
        )]);
        let locked = locked(&tree).unwrap();
        assert_eq!(locked["a"], BTreeSet::from(["b", "c", "d"].map(str::to_owned)));
        assert!(locked["b"].is_empty());
    }
}
