//! Redacts texts that look like texts with secrets but contain no secrets, and checks that they are not
//! changed.

use crate::{Redactor, SecretsIgnore};

const TEXTS: &[&str] = &[
    // Prose.
    "The password is required.\n",
    "password is not set\n",
    "The password for this account is required.\n",
    "The password for the user is stored in config.yaml.\n",
    "The password of the database is read from $DB_PASSWORD.\n",
    "The password for bob is invalid: it has fewer than 8 characters.\n",
    "The key for the map is `user_id2`.\n",
    "The secret for tests is get_secret(1).\n",
    "The password for bob: see the wiki page-2.\n",
    ":param password (optional): str, defaults to None\n",
    "password (string): The password, e.g. at least 8 characters\n",
    "The password was changed to comply with rule-7.\n",
    "the password is set to None by default\n",
    "password is set to self.password1\n",
    "Das Passwort ist erforderlich.\n",
    "Passwort: erforderlich\n",
    "Contraseña: obligatoria\n",
    "mot de passe: votre mot de passe\n",
    // Command lines.
    "ssh -p 8080 bob@host\n",
    "docker run -p 80:80 image1\n",
    "mkdir -p build/x86_64-linux\n",
    "cp -p file1.txt file2.txt\n",
    "mysql -u root -p shop2024\n",
    "mysql -u root -p -h db1.acme.io\n",
    "redis-cli -p 6379 ping\n",
    // YAML.
    "password: !vault secret/db1\n",
    "password: !Ref DbPassword1\n",
    "password: *pw\n",
    "password: &pw ${DB_PASSWORD}\n",
    "password: !!str\n",
    "fn f(password: &mut String, x: u8) {}\n",
    "fn f(password: &str) -> Option<u8> {}\n",
    // Columns.
    "user password\nreturn user1, password1\n",
    "enter user password\nthen press F12 key\n",
    "user  password  host\nstring  string  string\n",
    "user\tpassword\nstring\tstring\n",
    "arn:aws:s3:*:*:bucket1:object1\n",
    "cpe:2.3:a:acme:server:1.0:*:*:*:*:*:*:*\n",
    "login user password required\n",
    "mount -o username=bob,password=$PASS,uid=1000 //srv/share /mnt\n",
    "connect(user=u,password=get_password1,host=h)\n",
    "//srv/share /mnt cifs credentials=/etc/smb/user1,uid=1000 0 0\n",
    // Names of generated secrets.
    "token = nextToken\n",
    "token = next_token2\n",
    "secret: secretRef\n",
    "secret: my-app-secret-v2\n",
    "secret_key = getKey(x1)\n",
    "signing_key := NewEC256Key(tb)\n",
    "  signingKey: NewEC256Key(ca.tb),\n",
    "host_key: hostKeyBytes,\n",
    "let secret = Xxh3Builder::new().with_seed(1).build();\n",
    "let tokens: Vec<Vec<u8>> = read();\n",
    "tokens = vec![\"123\", \"3\"]\n",
    "secret = []byte{0xbe, 0x0c, 0x69}\n",
    "l.token = r.s[r.si-1 : end]\n",
    "AccessToken *GoogleCloudRunV2SecretVolumeSource `json:\"accessToken\"`\n",
    "func (x *Limits) GetMaxTokens() *wrapperspb.UInt32Value {\n",
    "aes128Keys.w = aes128Keys.r\n",
    "const ACCESS_TOKEN = -0x3f879678\n",
    "type PrivateCred = *mut KERB_S4U2PROXY_CRED;\n",
    "{\"progressToken\":1,\"progress\":2}\n",
    "// see the section on the token (RFC6749#Token)\n",
    "api_key: your_api_key\n",
    "API_KEY=your-api-key-here-1\n",
    "API_KEY=${API_KEY_2}\n",
    "client_secret: <client-secret-1>\n",
    "api_key: 1.4.0-RC2\n",
    "access_token: v1.0.0-RC2\n",
    "access_token: 2024-01-02T03:04:05Z\n",
    "private_key: /etc/ssl/private/Server1.pem\n",
    "private_key = certs/Server-2.key\n",
    "host key: `ssh-ed25519-cert-v01@openssh.com`\n",
    "encryption_key: AES-256-GCM\n",
    "credentials: arn:aws:iam::123:role/X1\n",
];

#[test]
fn texts_without_secrets_are_not_redacted() {
    let redactor = Redactor::new(&SecretsIgnore::default()).expect("no patterns");
    let changed = TEXTS.iter().map(|text| redactor.redact(text).text).zip(TEXTS).filter(|(now, text)| now != *text);
    let changed: Vec<_> = changed.collect();
    assert!(changed.is_empty(), "{changed:#?}");
}
