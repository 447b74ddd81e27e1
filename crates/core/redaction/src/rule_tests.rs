//! Checks that each rule finds the secrets that its templates produce. Also checks that similar values are
//! not found: values from the same template that consist of one repeated character or of too few different
//! characters.

use crate::synthesis::{Dice, Fill, fill};
use crate::{Redactor, SecretsIgnore, rule_ids};

const SEEDS: u64 = 25;

/// Templates of texts in which each rule finds a secret.
pub(crate) const CASES: &[(&str, &[&str])] = &[
    (
        "private-key",
        &[
            "-----BEGIN RSA PRIVATE KEY-----\n{pem}\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{pem}\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 2\n\n{pem}\n=ab9d\n-----END PGP PRIVATE KEY BLOCK-----",
            "Private-Lines: 4\n{pem}\nPrivate-MAC: 00",
        ],
    ),
    ("private-key-body", &["MIIEpAIBAAKCAQEA{b6448}\n{pem}\n", "k = \"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{b64400}\""]),
    ("aws-access-key-id", &["AKIA{up16}", "id = 'ASIA{up16}'"]),
    ("aws-secret-access-key", &["aws_secret_access_key = {b6440}", "\"SecretAccessKey\": \"{b6440}\""]),
    ("aws-access-key-pair", &["AKIA{up16}:{b6440}", "Credentials(\"ASIA{up16}\", \"{b6440}\")"]),
    ("aws-session-token", &["FwoGZXIvYXdz{b6480}", "IQoJb3JpZ2lu{b6480}"]),
    ("aws-bedrock-key", &["ABSK{b64109}=", "'ABSK{b64120}'"]),
    ("aws-mws-token", &["amzn.mws.{uuid}", "'amzn.mws.{uuid}'"]),
    ("presigned-url-signature", &["?X-Amz-Signature={hex64}", "&X-Goog-Signature={hex64}"]),
    ("gcp-api-key", &["AIza{url35}", "?key=AIza{url35}&x"]),
    ("gcp-oauth-client-secret", &["GOCSPX-{url28}", "\"GOCSPX-{url28}\""]),
    ("gcp-oauth-token", &["ya29.{url60}", "Bearer ya29.{url90}"]),
    ("gcp-refresh-token", &["1//0{url60}", "r: \"1//0{url70}\""]),
    ("gcp-service-account-key-id", &["\"private_key_id\": \"{hex40}\"", "\\\"private_key_id\\\": \\\"{hex40}\\\""]),
    ("azure-storage-key", &["AccountName=a;AccountKey={b6486}==;", "\"AccountKey\": \"{b6486}==\""]),
    ("azure-shared-access-key", &["SharedAccessKey={b6443}=", "SharedAccessKeyName=r;SharedAccessKey={b6443}=;"]),
    ("azure-sas-signature", &["?sv=2020&sig={an44}%3D", "&sig={an43}="]),
    ("azure-function-key", &["https://h/api/f?code={url54}==", "&code={an56}"]),
    ("azure-client-secret", &["{an3}8Q~{url34}", "x = '{an3}7Q~{url31}'"]),
    ("azure-devops-token", &["{an76}AZDO{an4}", "\"{an76}AZDO{an4}\""]),
    ("alibaba-access-key-id", &["LTAI{an20}", "LTAI{an16}"]),
    ("tencent-secret-id", &["AKID{an32}", "'AKID{an32}'"]),
    ("digitalocean-token", &["dop_v1_{hex64}", "doo_v1_{hex64}"]),
    ("digitalocean-spaces-key", &["DO00{up16}", "DO80{up16}"]),
    ("heroku-api-key", &["HRKU-{url60}", "'HRKU-{an36}'"]),
    ("heroku-api-key-uuid", &["HEROKU_API_KEY={uuid}", "heroku_key: \"{uuid}\""]),
    ("cloudflare-origin-ca-key", &["v1.0-{hex24}-{hex146}", "'v1.0-{hex24}-{hex146}'"]),
    ("cloudflare-api-key", &["CLOUDFLARE_API_TOKEN={an40}", "cloudflare_key = \"{hex37}\""]),
    ("fastly-api-token", &["FASTLY_API_TOKEN={an32}", "fastly: \"{an32}\""]),
    ("akamai-credential", &["akamai_client_token = {an40}", "EDGEGRID_SECRET=\"{an44}\""]),
    ("linode-token", &["LINODE_TOKEN={hex64}", "linode: '{hex64}'"]),
    ("hetzner-token", &["HCLOUD_TOKEN={an64}", "hetzner_key: {an64}"]),
    ("scaleway-secret", &["SCW_SECRET_KEY={uuid}", "scaleway: \"{uuid}\""]),
    ("flyio-token", &["fo1_{url43}", "fm2_{b6490}"]),
    ("render-api-key", &["rnd_{an28}", "rnd_{an32}"]),
    ("vault-token", &["hvs.{url24}", "hvb.{url100}"]),
    ("terraform-cloud-token", &["{an14}.atlasv1.{url67}", "token = \"{an14}.atlasv1.{url60}\""]),
    ("pulumi-token", &["pul-{hex40}", "'pul-{hex40}'"]),
    ("doppler-token", &["dp.pt.{an43}", "dp.st.dev.{an40}"]),
    ("infisical-token", &["st.6{hex23}.{hex32}.{hex32}", "'st.6{hex23}.{hex32}.{hex32}'"]),
    ("onepassword-service-token", &["ops_eyJ{b64200}", "'ops_eyJ{b64120}'"]),
    ("onepassword-secret-key", &["A3-{up6}-{up6}-{up5}-{up5}-{up5}-{up5}", "A3-{up6}-{up11}-{up5}-{up5}-{up5}"]),
    ("tailscale-key", &["tskey-auth-{an12}-{an32}", "tskey-api-{an20}"]),
    ("databricks-token", &["dapi{hex32}", "dapi{hex32}-2"]),
    ("snowflake-credential", &["SNOWFLAKE_PASSWORD={an16}", "snowflake_token: \"{an20}\""]),
    ("planetscale-token", &["pscale_tkn_{url43}", "pscale_pw_{url43}"]),
    ("supabase-key", &["sbp_{hex40}", "sb_secret_{url32}"]),
    ("aiven-token", &["AVNS_{url24}", "'AVNS_{an20}'"]),
    ("mongodb-atlas-secret", &["mdb_sa_sk_{url40}", "'mdb_sa_sk_{an40}'"]),
    ("neon-api-key", &["napi_{low60}", "'napi_{low64}'"]),
    ("clickhouse-cloud-key", &["4b1d{an38}", "'4b1d{an38}'"]),
    ("vercel-token", &["vcp_{an56}", "vci_{an24}"]),
    ("netlify-token", &["nfp_{an36}", "'nfp_{an40}'"]),
    ("yandex-cloud-key", &["AQVN{url36}", "YCAJ{an21}"]),
    ("github-pat", &["ghp_{an36}", "https://x:ghp_{an36}@github.com/a/b"]),
    ("github-oauth-token", &["gho_{an36}", "\\ngho_{an36}"]),
    ("github-app-token", &["ghs_{an36}", "ghu_{an36}"]),
    ("github-refresh-token", &["ghr_{an36}", "ghr_{an76}"]),
    ("github-fine-grained-pat", &["github_pat_{an22}_{an59}", "'github_pat_{an82}'"]),
    ("gitlab-pat", &["glpat-{url20}", "glpat-{an27}.01.{an9}"]),
    ("gitlab-pipeline-trigger-token", &["glptt-{hex40}", "'glptt-{an20}'"]),
    ("gitlab-runner-token", &["glrt-{url20}", "GR1348941{url20}"]),
    ("gitlab-token", &["gldt-{url20}", "glcbt-{an20}"]),
    ("bitbucket-app-password", &["ATBB{an32}", "'ATBB{an28}'"]),
    ("bitbucket-secret", &["BITBUCKET_CLIENT_SECRET={an32}", "bitbucket: \"{an64}\""]),
    ("atlassian-api-token", &["ATATT3{url186}", "'ATCTT3{url180}'"]),
    ("atlassian-legacy-token", &["JIRA_API_TOKEN={an24}", "confluence_token: \"{an24}\""]),
    ("npm-token", &["npm_{an36}", "//registry/:x=npm_{an36}"]),
    ("npmrc-auth", &["//r/:_authToken={an32}", "_password={an32}=="]),
    ("pypi-token", &["pypi-{url160}", "password = pypi-{url60}"]),
    ("rubygems-key", &["rubygems_{hex48}", "'rubygems_{hex48}'"]),
    ("crates-io-token", &["cio{an32}", "token = \"cio{an32}\""]),
    ("nuget-key", &["oy2{low43}", "'oy2{low43}'"]),
    ("clojars-token", &["CLOJARS_{low60}", "'CLOJARS_{low60}'"]),
    ("docker-hub-token", &["dckr_pat_{url27}", "dckr_oat_{url32}"]),
    ("docker-config-auth", &["\"auth\": \"{basic}\"", "\\\"auth\\\": \\\"{basic}\\\""]),
    ("artifactory-key", &["AKCp{an69}", "cmVmdGtu{an56}"]),
    ("circleci-token", &["CCIPAT_{an22}_{hex40}", "CCIPRJ_{an22}_{hex40}"]),
    ("buildkite-token", &["bkua_{hex40}", "bkct_{an40}"]),
    ("travis-token", &["TRAVIS_TOKEN={an22}", "travis: \"{an22}\""]),
    ("drone-token", &["DRONE_TOKEN={an32}", "drone_secret: \"{an32}\""]),
    ("sonar-token", &["sqp_{hex40}", "squ_{an40}"]),
    ("sonar-legacy-token", &["SONAR_TOKEN={hex40}", "sonar.login={hex40}"]),
    ("codecov-token", &["CODECOV_TOKEN={uuid}", "codecov: \"{uuid}\""]),
    ("sourcegraph-token", &["sgp_{hex40}", "sgp_{hex16}_{hex40}"]),
    ("snyk-token", &["SNYK_TOKEN={uuid}", "snyk: \"{uuid}\""]),
    ("snyk-oauth-token", &["snyk_uat.{hex8}.{url60}", "snyk_sat.{hex8}.{url80}"]),
    ("harness-token", &["pat.{url22}.{hex24}.{an20}", "'pat.{an22}.{an24}.{an20}'"]),
    ("kaggle-token", &["KGAT_{hex32}", "'KGAT_{an32}'"]),
    ("postman-key", &["PMAK-{hex24}-{hex34}", "'PMAK-{an24}-{an34}'"]),
    ("datadog-key", &["DD_API_KEY={hex32}", "datadog_app_key: \"{hex40}\""]),
    ("new-relic-key", &["NRAK-{up27}", "NRII-{url32}"]),
    ("new-relic-license-key", &["{hex36}NRAL", "license: '{hex36}NRAL'"]),
    ("sentry-token", &["sntrys_{b6480}", "sntryu_{hex64}"]),
    ("sentry-dsn", &["https://{hex32}@o1.ingest.sentry.io/12", "https://{hex32}:{hex32}@sentry.io/7"]),
    ("grafana-token", &["glc_{an60}", "glsa_{an32}_{hex8}"]),
    ("grafana-api-key", &["eyJrIjoi{an70}", "'eyJrIjoi{an80}=='"]),
    ("dynatrace-token", &["dt0c01.{up24}.{up64}", "dt0s16.{up24}.{up64}"]),
    ("honeycomb-key", &["hcaik_{an58}", "hcbik_{an58}"]),
    ("launchdarkly-key", &["sdk-{uuid}", "api-{uuid}"]),
    ("prefect-key", &["pnu_{an36}", "pnb_{an36}"]),
    ("readme-key", &["rdme_{low70}", "'rdme_{low70}'"]),
    ("infracost-key", &["ico-{an32}", "'ico-{an32}'"]),
    ("anthropic-api-key", &["sk-ant-api03-{url93}AA", "ANTHROPIC_API_KEY=sk-ant-admin01-{url80}"]),
    ("openrouter-key", &["sk-or-v1-{hex64}", "'sk-or-v1-{hex64}'"]),
    ("openai-project-key", &["sk-proj-{url120}", "sk-svcacct-{url60}"]),
    ("deepseek-api-key", &["sk-{hex32}", "'sk-{hex32}'"]),
    ("openai-api-key", &["sk-{an48}", "OPENAI_API_KEY=\"sk-{an20}T3BlbkFJ{an20}\""]),
    ("voyage-api-key", &["pa-{url43}", "VOYAGE_API_KEY=pa-{url43}"]),
    ("huggingface-token", &["hf_{an34}", "api_org_{an34}"]),
    ("cohere-api-key", &["COHERE_API_KEY={an40}", "cohere: \"{an40}\""]),
    ("mistral-api-key", &["MISTRAL_API_KEY={an32}", "mistral: \"{an32}\""]),
    ("groq-api-key", &["gsk_{an52}", "'gsk_{an52}'"]),
    ("perplexity-api-key", &["pplx-{an48}", "'pplx-{an48}'"]),
    ("replicate-token", &["r8_{an37}", "'r8_{an37}'"]),
    ("xai-api-key", &["xai-{an80}", "'xai-{an80}'"]),
    ("nvidia-api-key", &["nvapi-{url64}", "'nvapi-{an60}'"]),
    ("tavily-key", &["tvly-{an32}", "tvly-dev-{an32}"]),
    ("fireworks-key", &["fw_{an24}", "'fw_{an22}'"]),
    ("langsmith-key", &["lsv2_pt_{hex32}_{hex10}", "lsv2_sk_{hex32}_{hex10}"]),
    ("pinecone-key", &["pcsk_{an5}_{an63}", "'pcsk_{an6}_{an60}'"]),
    ("wandb-key", &["WANDB_API_KEY={hex40}", "wandb: \"{hex40}\""]),
    ("elevenlabs-key", &["ELEVENLABS_API_KEY=sk_{hex48}", "xi-api-key: {hex32}"]),
    ("speech-api-key", &["sk_{hex48}", "'sk_{hex48}'"]),
    ("slack-config-token", &["xoxe.xoxp-1-{an160}", "xoxe.xoxb-1-{an160}"]),
    ("slack-token", &["xoxb-{num12}-{num12}-{an24}", "xoxp-{num12}-{num12}-{num12}-{hex32}"]),
    ("slack-app-token", &["xapp-1-A{up10}-{num13}-{hex64}", "'xapp-1-{up11}-{num13}-{hex64}'"]),
    (
        "slack-webhook",
        &["https://hooks.slack.com/services/T{up8}/B{up10}/{an24}", "hooks.slack.com/services/T{up10}/B{up10}/{an24}"],
    ),
    (
        "discord-webhook",
        &["https://discord.com/api/webhooks/{num18}/{url68}", "discordapp.com/api/webhooks/{num19}/{url68}"],
    ),
    ("discord-bot-token", &["DISCORD_TOKEN=M{an23}.{an6}.{url38}", "client.login('N{an25}.{an6}.{url27}')"]),
    ("discord-token", &["MTIz{an20}.{an6}.{url27}", "'OTk4{an22}.{url6}.{url38}'"]),
    ("discord-client-secret", &["DISCORD_CLIENT_SECRET={an32}", "discord_secret: \"{hex64}\""]),
    ("telegram-bot-token", &["{num10}:AA{url33}", "bot{num9}:AA{url33}/getMe"]),
    (
        "teams-webhook",
        &[
            "https://a.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{hex32}/{uuid}",
            "x.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{an32}/{uuid}",
        ],
    ),
    (
        "zapier-webhook",
        &["https://hooks.zapier.com/hooks/catch/{num7}/{low7}", "hooks.zapier.com/hooks/catch/{num8}/{low8}/"],
    ),
    (
        "google-chat-webhook",
        &[
            "https://chat.googleapis.com/v1/spaces/AAA/messages?key=x-{url33}&token={url43}",
            "chat.googleapis.com/v1/spaces/AAA/messages?token={url60}",
        ],
    ),
    ("stripe-key", &["sk_live_{an24}", "rk_test_{an99}"]),
    ("stripe-webhook-secret", &["whsec_{an32}", "'whsec_{b6432}'"]),
    ("square-token", &["sq0atp-{url22}", "sq0csp-{url43}"]),
    ("square-access-token", &["EAAA{an60}", "'EAAA{an60}'"]),
    ("facebook-access-token", &["EAAM{an120}", "EAAC{an160}"]),
    ("braintree-access-token", &["access_token$production${low16}${hex32}", "access_token$sandbox${low16}${hex32}"]),
    ("paypal-secret", &["PAYPAL_CLIENT_SECRET=E{an79}", "paypal: \"{an64}\""]),
    ("plaid-access-token", &["access-sandbox-{uuid}", "access-production-{uuid}"]),
    ("plaid-secret", &["PLAID_SECRET={hex30}", "plaid_client_id: \"{hex24}\""]),
    ("flutterwave-key", &["FLWSECK_TEST-{hex32}-X", "FLWSECK-{hex32}-X"]),
    ("razorpay-key", &["rzp_live_{an14}", "rzp_test_{an14}"]),
    ("adyen-key", &["ADYEN_API_KEY={an60}", "adyen: \"{an80}\""]),
    ("coinbase-key", &["COINBASE_SECRET={an64}", "coinbase: \"{url64}\""]),
    ("shopify-token", &["shpat_{hex32}", "shpss_{hex32}"]),
    ("twilio-api-key", &["SK{hex32}", "'SK{hex32}'"]),
    (
        "twilio-credentials",
        &["Client('AC00000000000000000000000000000000', '{hex32}')", "tw:AC00000000000000000000000000000000:{hex32}"],
    ),
    ("twilio-auth-token", &["TWILIO_AUTH_TOKEN={hex32}", "twilio_token: \"{hex32}\""]),
    ("sendgrid-key", &["SG.{url22}.{url43}", "'SG.{url22}.{url43}'"]),
    ("sendinblue-key", &["xkeysib-{hex64}-{an16}", "'xkeysib-{hex64}-{an16}'"]),
    ("mailgun-key", &["key-{hex32}", "pubkey-{hex32}"]),
    ("mailgun-signing-key", &["MAILGUN_API_KEY={hex32}-{hex8}-{hex8}", "mailgun: \"{hex32}-{hex8}-{hex8}\""]),
    ("mailchimp-key", &["{hex32}-us12", "'{hex32}-us6'"]),
    ("postmark-token", &["POSTMARK_TOKEN={uuid}", "postmark: \"{uuid}\""]),
    ("resend-key", &["re_{an8}_{an24}", "'re_{an8}_{an24}'"]),
    ("linear-token", &["lin_api_{an40}", "lin_oauth_{hex64}"]),
    ("notion-token", &["ntn_{an46}", "'ntn_{an46}'"]),
    ("notion-secret", &["secret_{an43}", "'secret_{an43}'"]),
    ("airtable-token", &["pat{an14}.{hex64}", "'pat{an14}.{hex64}'"]),
    ("airtable-key", &["AIRTABLE_API_KEY=key{an14}", "airtable: \"key{an14}\""]),
    ("asana-token", &["ASANA_TOKEN=1/{num16}:{hex32}", "asana: \"{hex32}\""]),
    ("asana-personal-token", &["1/12{num14}:{hex32}", "'2/12{num14}/{num16}:{hex32}'"]),
    ("dropbox-token", &["sl.{url130}", "sl.u.{url140}"]),
    ("figma-token", &["figd_{url40}", "'figd_{an40}'"]),
    ("hubspot-token", &["pat-na1-{uuid}", "pat-eu1-{uuid}"]),
    ("typeform-token", &["tfp_{an44}", "'tfp_{url59}'"]),
    ("contentful-token", &["CFPAT-{url43}", "'CFPAT-{url43}'"]),
    ("mapbox-secret-token", &["sk.eyJ{url80}.{url22}", "'sk.eyJ{url70}.{url22}'"]),
    ("algolia-key", &["ALGOLIA_ADMIN_KEY={hex32}", "algolia: \"{hex32}\""]),
    ("intercom-token", &["INTERCOM_TOKEN=dG9r{an56}=", "intercom: \"{an60}\""]),
    ("zendesk-secret", &["ZENDESK_TOKEN={an40}", "zendesk: \"{hex64}\""]),
    (
        "twitter-bearer-token",
        &["AAAAAAAAAAAAAAAAAAAAA{an60}%3D{an40}", "'AAAAAAAAAAAAAAAAAAAAA{an20}%2B{an20}%3D{an40}'"],
    ),
    ("twitter-secret", &["TWITTER_API_SECRET={an50}", "consumer_secret = \"{an50}\""]),
    ("facebook-secret", &["FACEBOOK_APP_SECRET={hex32}", "fb_app_secret: \"{hex32}\""]),
    ("linkedin-secret", &["LINKEDIN_CLIENT_SECRET={an16}", "linkedin: \"{an16}\""]),
    ("okta-token", &["Authorization: SSWS 00{url40}", "OKTA_API_TOKEN=00{an40}"]),
    ("okta-client-secret", &["OKTA_CLIENT_SECRET={an40}", "okta_secret: \"{an64}\""]),
    ("auth0-secret", &["AUTH0_CLIENT_SECRET={an64}", "auth0: \"{an64}\""]),
    ("firebase-server-key", &["AAAA{url7}:APA91b{url134}", "'AAAA{url7}:APA91b{url134}'"]),
    ("firebase-secret", &["FIREBASE_SECRET={an40}", "firebase: \"{an40}\""]),
    ("lob-key", &["live_{hex35}", "'test_{hex35}'"]),
    ("duffel-token", &["duffel_test_{url43}", "duffel_live_{url43}"]),
    ("easypost-key", &["EZAK{an54}", "EZTK{an54}"]),
    ("shippo-token", &["shippo_live_{hex40}", "shippo_test_{hex40}"]),
    ("adafruit-key", &["aio_{an28}", "'aio_{an28}'"]),
    ("ngrok-key", &["NGROK_AUTHTOKEN={an27}_{an22}", "ngrok: \"{an27}_{an22}\""]),
    ("age-secret-key", &["AGE-SECRET-KEY-1{up58}", "# AGE-SECRET-KEY-1{up58}"]),
    ("jwt", &["eyJ{url30}.eyJ{url60}.{url43}", "t=eyJ{url30}.eyJ{url60}.{url86}"]),
    ("basic-authorization", &["Authorization: Basic {basic}", "\"Basic {basic}\""]),
    ("bearer-authorization", &["Authorization: Bearer {an32}", "curl -H 'authorization: bearer {url64}'"]),
    ("authorization-header", &["Authorization: token {an32}", "\"Authorization\": \"{an32}\""]),
    ("session-cookie", &["Cookie: sessionid={low32}", "Set-Cookie: a=b; auth_token={url40}; Path=/"]),
    ("json-web-key", &["{\"kty\": \"oct\", \"k\": \"«url43»\"}", "{\"kty\":\"EC\",\"d\":\"«url43»\"}"]),
    (
        "password-hash",
        &["bob:$2b$12${an53}", "'$argon2id$v=19$m=65536,t=3,p=4${an22}${an43}'", "root:$6${an16}${an86}:"],
    ),
    ("url-credentials", &["ssh://ci:{pw}@host/db", "https://deploy:{pw}@git.host/a.git"]),
    ("encoded-url-credentials", &["u=postgres%3A%2F%2Fsvc%3A{low16}%40db", "?next=https%3A%2F%2Fbob%3A{an12}%40host"]),
    ("dsn-password", &["root:{pw}@tcp(db:3306)/x", "app:{pw}@unix(/s)/x"]),
    ("jdbc-oracle-password", &["jdbc:oracle:thin:scott/{pw}@h:1521:x", "\"jdbc:oracle:oci:app/{pw}@db\""]),
    (
        "command-line-password",
        &[
            "mysql -u root -p{pw} db",
            "curl -u deploy:{pw} https://h/",
            "sshpass -p {pw} ssh h",
            "redis-cli -h x -a {pw}",
            "docker login -u x -p {pw} r",
        ],
    ),
    ("netrc-password", &["machine h login u password {pw}", "default login me password {pw}"]),
    ("sql-password", &["CREATE USER u IDENTIFIED BY '{pw}'", "ALTER ROLE u WITH PASSWORD '{pw}'"]),
    ("translated-password", &["contraseña = \"{pw}\"", "mot de passe : {pw}", "密码: {pw}", "Пароль: `{pw}`"]),
    (
        "secure-string",
        &["ConvertTo-SecureString \"{pw}\" -AsPlainText", "ConvertTo-SecureString -String '{pw}' -Force"],
    ),
    ("basic-auth-pair", &["auth=(\"deploy\", \"{pw}\")", "HTTPBasicAuth('deploy', '{pw}')"]),
    ("credential-arguments", &["smtp.login('bob@h.io', '{pw}')", "new NetworkCredential(\"bob\", \"{pw}\")"]),
    ("field-of-a-password", &["find(\"password\").sendKeys(\"{pw}\")", "assertEquals(\"{pw}\", getPassword())"]),
    ("user-and-password-options", &["twine upload -u bob -p {pw} x", "tool -U bob -P '{pw}'"]),
    ("default-of-a-variable", &["\"${DB_PASSWORD:-«pw»}\"", "@Value(\"${db.password:«pw»}\")"]),
    ("plain-encoded-password", &["password(\"{noop}«pw»\")", "'{plain}«pw»'"]),
    ("pgpass-entry", &["db:5432:x:svc:{pw}", "*:*:*:admin:{pw}"]),
    ("wifi-passphrase", &["psk=\"{pw}\"", "wpa_psk: '{pw}'"]),
    ("wireguard-key", &["PrivateKey = {b6443}=", "PresharedKey={b6443}="]),
    ("seed-phrase", &["MNEMONIC=\"{phrase}\"", "seed phrase: {phrase}"]),
    ("login-pair", &["Default login: admin / {pw}", "Credentials: `bob@h.io` / `{pw}`"]),
    ("wordpress-salt", &["define('AUTH_SALT', '{url64}');", "define( \"NONCE_KEY\", \"{url64}\" );"]),
    ("redis-acl-password", &["user bob on >{pw} ~*", "user app on >{pw} +@all"]),
    ("sent-password", &["send \"{pw}\\r\"", "send \"{an12}\\r\""]),
    ("signing-secret", &["jwt.sign(payload, \"{an40}\")", "cookieParser('{an40}')"]),
    ("hmac-key", &["hmac.new(b'{an40}', m)", "crypto.createHmac('sha256', '{an40}')"]),
    ("raw-private-key", &["PRIVATE_KEY=0x{hex64}", "private_key = \"{hex64}\""]),
    ("url-parameter", &["https://h/v1?key={hex32}", "https://h/v1?q=x&appid={an32}"]),
    ("piped-password", &["echo \"root:{pw}\" | chpasswd", "echo {pw} | docker login -u x --password-stdin"]),
    (
        "literal-of-a-secret",
        &["kubectl create secret generic x --from-literal=DB={pw}", "--from-literal=db.user='{pw}'"],
    ),
    (
        "secret-cell",
        &["| password | {pw} |", "user,password\nbob,{pw}\n", "| user | token |\n|---|---|\n| bob | {an40} |\n"],
    ),
    (
        "inserted-secret",
        &["INSERT INTO u (name, password) VALUES ('bob', '{pw}')", "insert into t (api_key) values ('{an40}')"],
    ),
    (
        "printed-secret",
        &[
            "\"outputs\": [{\"output_type\": \"stream\", \"text\": [\"«an32»\\n\"]}]",
            "\"outputs\": [{\"output_type\": \"stream\", \"text\": \"«pw»\"}]",
        ],
    ),
    ("secret-manifest", &["kind: Secret\ndata:\n  user: {b6424}\n", "stringData:\n  user: {pw}\nkind: Secret\n"]),
    ("encoded-secret", &["x = \"{encoded}\"", "- {encoded}"]),
    (
        "generic-password",
        &[
            "password = \"{pw}\"",
            "DB_PASSWORD={pw}",
            "<password>{pw}</password>",
            "\\\"passwd\\\": \\\"{pw}\\\"",
            "Server=h;Pwd={pw};",
            "--password {pw}",
        ],
    ),
    ("generic-secret", &["client_secret = \"{an32}\"", "APP_SECRET={hex32}", "credentials: '{an24}'"]),
    ("generic-token", &["token = \"{an24}\"", "export ACCESS_TOKEN={hex40}", "\"refreshToken\": \"{url64}\""]),
    (
        "generic-api-key",
        &["api_key: \"{an32}\"", "X-API-Key: {hex32}", "encryptionKey = '{b6443}='", "key = \"{an40}\""],
    ),
    ("generic-auth", &["auth = \"{an40}\"", "auth: '{an44}'"]),
];

fn redactor() -> Redactor {
    Redactor::new(&SecretsIgnore::default()).expect("no patterns")
}

/// Fills the template and redacts the text. Returns the filled template, whether the rule found a secret, and
/// whether the redacted text still contains a filled part of more than eight characters.
fn outcome(redactor: &Redactor, rule: &str, template: &str, how: Fill, seed: u64) -> (String, bool, bool) {
    let (text, parts) = fill(template, &mut Dice::new(seed), how);
    let redacted = redactor.redact(&text);
    let fires = redacted.findings.iter().any(|finding| finding.rule == rule);
    let survives =
        parts.iter().flat_map(|part| part.lines()).any(|part| part.len() > 8 && redacted.text.contains(part));
    (text, fires, survives)
}

#[test]
fn every_rule_has_at_least_two_templates() {
    let tested: Vec<&str> = CASES.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(tested, rule_ids().collect::<Vec<_>>());
    assert!(CASES.iter().all(|(_, templates)| templates.len() >= 2));
}

#[test]
fn filled_templates_are_redacted() {
    let redactor = redactor();
    let mut missed = Vec::new();
    for (rule, templates) in CASES {
        for template in *templates {
            let num_missed = (0..SEEDS).filter(|seed| {
                let (_, fires, survives) = outcome(&redactor, rule, template, Fill::Random, *seed);
                !fires || survives
            });
            // A few random values look like words, so the rule may miss one value. A value with the prefix of
            // a provider must always be found.
            let num_missed = num_missed.count();
            if num_missed > 1 {
                missed.push(format!("{rule}: {template}: {num_missed} of {SEEDS}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn near_misses_are_not_redacted() {
    let redactor = redactor();
    let mut found = Vec::new();
    for (rule, templates) in CASES {
        for template in *templates {
            for how in [Fill::Same, Fill::Cut] {
                let (text, fires, _) = outcome(&redactor, rule, template, how, 7);
                if fires {
                    found.push(format!("{rule}: {text}"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
