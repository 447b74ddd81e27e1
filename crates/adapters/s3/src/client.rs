//! Creates the SDK client from our settings only: the client uses no profile and no metadata service, and
//! does not retry.

use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::config::timeout::TimeoutConfig;
use aws_sdk_s3::config::{
    BehaviorVersion, Config, Credentials, Region, RequestChecksumCalculation, ResponseChecksumValidation,
};
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use cairn_config::SecretUnreadable;

use crate::{Checksums, S3Config, SecretReference};

pub(crate) fn build(config: &S3Config) -> Result<Client, SecretUnreadable> {
    let http = Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
    let connect_timeout = Duration::from_millis(config.connect_timeout_ms);
    let (calculation, validation) = match config.checksums {
        Checksums::WhenSupported => {
            (RequestChecksumCalculation::WhenSupported, ResponseChecksumValidation::WhenSupported)
        }
        Checksums::WhenRequired => (RequestChecksumCalculation::WhenRequired, ResponseChecksumValidation::WhenRequired),
    };
    let mut builder = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(http)
        .region(Region::new(config.region.clone()))
        .credentials_provider(credentials(config)?)
        .force_path_style(config.has_path_style())
        .timeout_config(TimeoutConfig::builder().connect_timeout(connect_timeout).build())
        .retry_config(RetryConfig::disabled())
        .request_checksum_calculation(calculation)
        .response_checksum_validation(validation);
    builder.set_endpoint_url(config.endpoint.clone());
    Ok(Client::from_conf(builder.build()))
}

fn credentials(config: &S3Config) -> Result<Credentials, SecretUnreadable> {
    let key = config.access_key_id.read()?;
    let secret = config.secret_access_key.read()?;
    let token = config.session_token.as_ref().map(SecretReference::read).transpose()?;
    let token = token.map(|token| token.expose().to_owned());
    Ok(Credentials::new(key.expose(), secret.expose(), token, None, "cairn"))
}
