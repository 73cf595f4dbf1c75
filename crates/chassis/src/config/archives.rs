//! Locations of archives of logs: a folder, or a bucket of an S3-compatible storage.

use std::path::PathBuf;

use http::Uri;
use system::secret::Secret;

use super::problem::ConfigError;
use super::settings::Settings;
use super::source::Source;

/// Form of a location in settings and options.
const ALLOWED: &str = "a folder, or s3://BUCKET/PREFIX";

/// Settings of archives.
#[derive(Clone, Debug, Default)]
pub struct ArchiveConfig {
    /// Location from which archives are read. `None`: questions about archived records are refused.
    pub location: Option<ArchiveLocation>,
    pub access: BucketAccess,
}

/// Folder or bucket of archives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArchiveLocation {
    Folder(PathBuf),
    Bucket {
        name: String,
        /// Path in the bucket, without slashes around it; may be empty.
        prefix: String,
    },
}

/// Access to the storage of a bucket.
#[derive(Clone, Debug, Default)]
pub struct BucketAccess {
    /// Address of the storage, `http://` or `https://`. `None`: that of Amazon for the region.
    pub endpoint: Option<Uri>,
    pub region: Option<String>,
    /// Id and secret of an access key.
    pub key: Option<(String, Secret)>,
}

impl ArchiveConfig {
    /// Reads these settings alone, for a program whose other settings are another's.
    ///
    /// # Errors
    /// One of them is wrong.
    pub fn from_source(source: Source) -> Result<ArchiveConfig, ConfigError> {
        let mut settings = Settings::new(source);
        let config = ArchiveConfig::read(&mut settings);
        settings.finish_some().map(|()| config)
    }

    /// Reads the settings `archives` and `archive_storage.*`.
    pub fn read(settings: &mut Settings) -> ArchiveConfig {
        let location = settings.get("archives", ALLOWED, ArchiveLocation::parse);
        let access = BucketAccess::read(settings);
        if matches!(location, Some(ArchiveLocation::Bucket { .. })) && access.key.is_none() {
            let advice =
                "needs archive_storage.access_key_id and archive_storage.secret_access_key";
            settings.refuse("archives", advice.to_owned());
        }
        ArchiveConfig { location, access }
    }
}

impl ArchiveLocation {
    /// Parses a path, or `s3://BUCKET/PREFIX`. `None` if the text is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<ArchiveLocation> {
        match text.split_once("://") {
            Some(("s3", rest)) => {
                let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                let prefix = prefix.trim_matches('/').to_owned();
                let fits = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
                let is_bucket = !name.is_empty() && name.chars().all(fits);
                is_bucket.then(|| ArchiveLocation::Bucket { name: name.to_owned(), prefix })
            }
            Some(_) => None,
            None => (!text.is_empty()).then(|| ArchiveLocation::Folder(PathBuf::from(text))),
        }
    }
}

impl BucketAccess {
    fn read(settings: &mut Settings) -> BucketAccess {
        let allowed = "http://HOST:PORT or https://HOST of an S3-compatible storage";
        let endpoint = settings.get("archive_storage.endpoint", allowed, |text| {
            let uri: Uri = text.parse().ok()?;
            let is_web = matches!(uri.scheme_str()?, "http" | "https") && uri.host().is_some();
            is_web.then_some(uri)
        });
        let mut text = |key, allowed| {
            let is_word =
                |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
            settings.get(key, allowed, |text| is_word(text).then(|| text.to_owned()))
        };
        let region = text("archive_storage.region", "a region, such as eu-central-1");
        let id = text("archive_storage.access_key_id", "the id of an access key");
        let secret = settings.secret("archive_storage.secret_access_key", &[]);
        let key = match (id, secret) {
            (Some(id), Some(secret)) => Some((id, secret)),
            (None, None) => None,
            (Some(_), None) => {
                let advice = "is missing: a key has an id and a secret";
                settings.refuse("archive_storage.secret_access_key", advice.to_owned());
                None
            }
            (None, Some(_)) => {
                let advice = "is missing: a key has an id and a secret";
                settings.refuse("archive_storage.access_key_id", advice.to_owned());
                None
            }
        };
        BucketAccess { endpoint, region, key }
    }
}
