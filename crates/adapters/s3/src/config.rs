//! Settings of the bucket, and their validation.

use cairn_ports::check_blob_key;
use serde::Deserialize;
use url::Url;

use crate::SecretReference;

/// Settings of the bucket for artifacts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct S3Config {
    pub bucket: String,
    /// Prefix of every key, without its final slash. The prefix is empty if the bucket contains only the
    /// objects of this store.
    #[serde(default)]
    pub prefix: String,
    /// Address of a server other than AWS: `https://HOST[:PORT]`.
    #[serde(default)]
    pub endpoint: Option<String>,
    #[serde(default = "default_region")]
    pub region: String,
    /// If true, the name of the bucket is in the path of a request, and not in its host name. Default: true
    /// for every server except AWS.
    #[serde(default)]
    pub force_path_style: Option<bool>,
    #[serde(default)]
    pub checksums: Checksums,
    #[serde(default = "default_access_key_id")]
    pub access_key_id: SecretReference,
    #[serde(default = "default_secret_access_key")]
    pub secret_access_key: SecretReference,
    /// The session token of temporary credentials.
    #[serde(default)]
    pub session_token: Option<SecretReference>,
    #[serde(default = "default_connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// Time limit of a whole operation with its retries. In a list operation, this limit applies to each
    /// page.
    #[serde(default = "default_operation_timeout_ms")]
    pub operation_timeout_ms: u64,
}

/// Whether requests contain checksums in addition to the hashes of the artifacts. Some servers refuse
/// checksums that the protocol does not require.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checksums {
    #[default]
    WhenSupported,
    WhenRequired,
}

fn default_region() -> String {
    "us-east-1".to_owned()
}

fn default_access_key_id() -> SecretReference {
    SecretReference::Env("AWS_ACCESS_KEY_ID".to_owned())
}

fn default_secret_access_key() -> SecretReference {
    SecretReference::Env("AWS_SECRET_ACCESS_KEY".to_owned())
}

fn default_connect_timeout_ms() -> u64 {
    5_000
}

fn default_operation_timeout_ms() -> u64 {
    60_000
}

/// All faults of the settings, each with advice.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("invalid settings of s3: {}", faults.join("; "))]
pub struct InvalidS3Config {
    pub faults: Vec<String>,
}

impl S3Config {
    /// Returns settings for the bucket at AWS. All other settings have their defaults.
    pub fn new(bucket: impl Into<String>) -> Self {
        Self {
            bucket: bucket.into(),
            prefix: String::new(),
            endpoint: None,
            region: default_region(),
            force_path_style: None,
            checksums: Checksums::default(),
            access_key_id: default_access_key_id(),
            secret_access_key: default_secret_access_key(),
            session_token: None,
            connect_timeout_ms: default_connect_timeout_ms(),
            operation_timeout_ms: default_operation_timeout_ms(),
        }
    }

    /// Returns settings for the server at `http://KEY:SECRET@HOST:PORT`. If the URL is invalid, `validate`
    /// reports it later.
    pub fn at(url: &str, bucket: impl Into<String>) -> Self {
        let config = Self::new(bucket);
        let Ok(mut endpoint) = Url::parse(url) else { return Self { endpoint: Some(url.to_owned()), ..config } };
        let secret = |text: &str| SecretReference::Value(text.into());
        let (key, password) = (secret(endpoint.username()), endpoint.password().map(secret));
        let is_cleared = endpoint.set_username("").and_then(|()| endpoint.set_password(None)).is_ok();
        match password {
            Some(password) if is_cleared => {
                Self { endpoint: Some(endpoint.into()), access_key_id: key, secret_access_key: password, ..config }
            }
            _ => Self { endpoint: Some(endpoint.into()), ..config },
        }
    }

    /// Checks all settings and reports all faults at once.
    pub fn validate(&self) -> Result<(), InvalidS3Config> {
        let mut faults = Vec::new();
        let mut check = |is_right: bool, fault: &str| {
            if !is_right {
                faults.push(fault.to_owned());
            }
        };
        check(
            is_bucket(&self.bucket),
            "`bucket` must have 3 to 63 lower-case letters, digits, `-` and `.`, and begin and end with a letter or digit",
        );
        check(
            self.prefix.is_empty() || check_blob_key(&self.prefix).is_ok(),
            "`prefix` must consist of letters, digits, `.`, `_` and `-`, in parts separated by `/`",
        );
        check(self.endpoint.as_deref().is_none_or(is_endpoint), "`endpoint` must be only `https://HOST[:PORT]`");
        check(
            !self.region.is_empty(),
            "`region` is empty; servers other than AWS accept any region, such as `us-east-1`",
        );
        check(self.connect_timeout_ms > 0, "`connect_timeout_ms` must not be 0");
        check(self.operation_timeout_ms > 0, "`operation_timeout_ms` must not be 0");
        if faults.is_empty() { Ok(()) } else { Err(InvalidS3Config { faults }) }
    }

    pub(crate) fn has_path_style(&self) -> bool {
        self.force_path_style.unwrap_or(self.endpoint.is_some())
    }
}

fn is_bucket(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    let is_outer = |character: char| character.is_ascii_alphanumeric();
    (3..=63).contains(&name.len())
        && name.bytes().all(is_inner)
        && name.starts_with(is_outer)
        && name.ends_with(is_outer)
        && !name.contains("..")
}

/// Returns whether the text is a valid endpoint. Credentials in an endpoint would appear in logs, and a path
/// would be used as a bucket.
fn is_endpoint(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.path() == "/"
        && url.query().is_none()
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn all_faults_are_reported_at_once() {
        let config = S3Config {
            prefix: "/a/".to_owned(),
            endpoint: Some("http://key:secret@host:9000".to_owned()),
            region: String::new(),
            connect_timeout_ms: 0,
            operation_timeout_ms: 0,
            ..S3Config::new("No")
        };
        let invalid = config.validate().expect_err("all of it");
        assert_eq!(invalid.faults.len(), 6, "{invalid}");
        assert!(!invalid.to_string().contains("secret"), "{invalid}");
        assert_eq!(S3Config::new("artifacts").validate(), Ok(()));
    }

    #[test]
    fn endpoints_and_bucket_names_are_checked() {
        for good in ["https://s3.example.org", "http://127.0.0.1:9000", "http://127.0.0.1:9000/"] {
            assert!(is_endpoint(good), "{good}");
        }
        for bad in ["", "host:9000", "ftp://host", "https://host/bucket", "https://key@host", "https://host/?a=b"] {
            assert!(!is_endpoint(bad), "{bad}");
        }
        for good in ["abc", "cairn-artifacts", "a.b-c1"] {
            assert!(is_bucket(good), "{good}");
        }
        for bad in ["", "ab", "Upper", "a_b", "-ab", "ab-", "a..b", "a/b"] {
            assert!(!is_bucket(bad), "{bad}");
        }
    }

    #[test]
    fn credentials_are_removed_from_an_address() {
        let config = S3Config::at("http://key:secret@127.0.0.1:9000", "artifacts");
        assert_eq!(config.validate(), Ok(()));
        assert_eq!(config.endpoint.as_deref(), Some("http://127.0.0.1:9000/"));
        assert_eq!(config.access_key_id.read().expect("a key").expose(), "key");
        assert_eq!(config.secret_access_key.read().expect("a secret").expose(), "secret");
        assert!(!format!("{config:?}").contains("secret@") && config.has_path_style());
        assert!(S3Config::at("no address", "artifacts").validate().is_err());
    }

    #[test]
    fn settings_are_read_from_toml() {
        let text = "bucket = \"artifacts\"\nendpoint = \"https://s3.local\"\nchecksums = \"when_required\"\n\
                    access_key_id = { env = \"KEY\" }\nsecret_access_key = { file = \"/run/secret\" }\n";
        let config: S3Config = toml::from_str(text).expect("settings");
        assert_eq!(config.checksums, Checksums::WhenRequired);
        assert!(matches!(config.secret_access_key, SecretReference::File(_)));
        assert_eq!((config.connect_timeout_ms, config.has_path_style()), (5_000, true));
        let unknown = toml::from_str::<S3Config>("bucket = \"a\"\nbukket = \"b\"").expect_err("an unknown key");
        assert!(unknown.to_string().contains("bukket"), "{unknown}");
    }
}
