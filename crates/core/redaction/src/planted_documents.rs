//! SQL, documents, notebooks and keys with secrets, for the tests in `planted_tests`.

/// Texts with secrets that are identified only by the surrounding text. The label of each text identifies it
/// in the message of a failed test.
pub(crate) const DOCUMENTS: &[(&str, &str)] = &[
    // SQL.
    ("sql insert", "INSERT INTO users (name, password) VALUES ('bob', '«weak»');\n"),
    (
        "sql insert rows",
        "INSERT INTO users (id, name, password, mail) VALUES\n  (1, 'bob', '«weak»', 'b@acme.io'),\n  (2, 'ann', '«pw»', 'a@acme.io');\n",
    ),
    ("sql insert quoted", "insert into `accounts` (`id`, `user`, `passwd`) values (1, 'bob', '«weak»');\n"),
    ("sql insert double quoted", "INSERT INTO \"users\" (\"name\", \"api_key\") VALUES ('bob', '«an32»');\n"),
    ("sql insert in code", "db.execute(\"INSERT INTO users (name, password) VALUES ('bob', '«weak»')\")\n"),
    ("sql insert secret", "INSERT INTO settings (secret, k) VALUES ('«weak»', 'x');\n"),
    ("sql insert first column", "INSERT INTO credentials(password,login) VALUES('«weak»','bob')\n"),
    (
        "sql update",
        "UPDATE users SET password = '«weak»' WHERE name = 'bob';\nUPDATE users SET mail='x', pass='«pw»' WHERE id=1;\n",
    ),
    ("sql where", "SELECT * FROM users WHERE name='bob' AND password='«weak»';\n"),
    (
        "sql create user",
        "CREATE USER 'app'@'%' IDENTIFIED BY '«weak»';\nCREATE USER bob WITH PASSWORD '«pw»';\nALTER USER bob PASSWORD '«weak»';\nCREATE LOGIN sa WITH PASSWORD = '«weak»';\n",
    ),
    (
        "sql grant",
        "GRANT ALL ON x.* TO 'app'@'%' IDENTIFIED BY '«weak»';\nSET PASSWORD FOR 'bob'@'%' = PASSWORD('«weak»');\n",
    ),
    ("sql spaces", "CREATE USER bob WITH PASSWORD '«words»';\n"),
    ("sql insert hash", "INSERT INTO users (name, password_hash) VALUES ('bob', '$2b$12$«an53»');\n"),
    ("sql key value", "INSERT INTO config (name, value) VALUES ('smtp_password', '«weak»');\n"),
    // Documents.
    ("markdown table", "| password | «weak» |\n"),
    (
        "markdown table with head",
        "| Setting | Value |\n|---|---|\n| DB password | «weak» |\n| API key | `«an32»` |\n| Secret | **«pw»** |\n",
    ),
    ("markdown table column", "| User | Password |\n|------|----------|\n| bob | «weak» |\n| ann | `«pw»` |\n"),
    (
        "markdown table three columns",
        "| host | user | password | note |\n|:--|:-:|--:|---|\n| db | bob | «weak» | old |\n| mq | ann | «pw» | |\n",
    ),
    ("markdown table no edges", "user | password\n--- | ---\nbob | «weak»\n"),
    ("markdown table spaces", "| passphrase | `«words»` |\n"),
    ("rst table", "======  ==========\nUser    Password\n======  ==========\nbob     «weak»\n======  ==========\n"),
    ("html table", "<table><tr><th>Password</th><td>«weak»</td></tr></table>\n"),
    ("csv", "user,password\nbob,«weak»\nann,«pw»\n"),
    (
        "markdown prose",
        "The password is «weak».\nThe admin password is `«weak»`.\nUse password «pw» for staging.\nDefault login: admin / «weak»\n",
    ),
    (
        "markdown list",
        "- **Password:** «weak»\n- Password: `«pw»`\n- *API key*: «an32»\n- username: bob, password: «weak»\n",
    ),
    ("markdown bold", "**password**: «weak»\n__Token__ = `«an32»`\n"),
    ("markdown arrow", "password -> «weak»\nPassword → `«pw»`\n"),
    ("markdown spaces", "Password: \"«words»\"\n"),
    (
        "comment",
        "# password: «weak»\n// the password is «weak»\n/* password = «pw» */\n-- pw: «weak»\n<!-- api key: «an32» -->\n; secret=«weak»\n",
    ),
    ("comment todo", "# TODO remove: password «pw»\n// bob's password was \"«weak»\"\n"),
    ("rst", ":password: «weak»\n``password``: ``«weak»``\n"),
    ("mail", "Hi Ann,\n\nuser: bob\npassword: «weak»\npw: «pw»\nPIN code: x\n"),
    ("log", "2024-01-01 INFO login user=bob password=«weak» ok\nDEBUG token=«an32»\n"),
    ("other languages", "Passwort: «weak»\nmot de passe : «weak»\ncontraseña: «weak»\nsenha: «weak»\n"),
    // Notebooks.
    (
        "notebook source",
        "{\"cells\": [{\"cell_type\": \"code\", \"outputs\": [], \"source\": [\"password = '«weak»'\\n\", \"api_key = \\\"«an32»\\\"\\n\", \"%env DB_PASSWORD=«weak»\\n\", \"!mysql -u root -p«weak»\\n\"]}], \"nbformat\": 4}\n",
    ),
    (
        "notebook source spaces",
        "{\"cells\": [{\"cell_type\": \"code\", \"outputs\": [], \"source\": [\"password = \\\"«words»\\\"\\n\"]}], \"nbformat\": 4}\n",
    ),
    (
        "notebook markdown",
        "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": [\"| user | password |\\n\", \"|---|---|\\n\", \"| bob | «weak» |\\n\", \"\\n\", \"The password is `«weak»`.\\n\"]}], \"nbformat\": 4}\n",
    ),
    (
        "notebook output",
        "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"outputs\": [\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n      \"password: «weak»\\n\",\n      \"token = «an32»\\n\",\n      \"{'user': 'bob', 'password': '«weak»'}\\n\"\n     ]\n    }\n   ],\n   \"source\": [\"go()\"]\n  }\n ],\n \"nbformat\": 4\n}\n",
    ),
    (
        "notebook bare output",
        "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"outputs\": [\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n      \"«pw»\\n\"\n     ]\n    }\n   ],\n   \"source\": [\"print(value)\"]\n  }\n ],\n \"nbformat\": 4\n}\n",
    ),
    (
        "notebook bare result",
        "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"outputs\": [\n    {\n     \"data\": {\"text/plain\": [\"'«an32»'\"]},\n     \"output_type\": \"execute_result\"\n    }\n   ],\n   \"source\": [\"value\"]\n  }\n ],\n \"nbformat\": 4\n}\n",
    ),
    (
        "notebook printed password",
        "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"outputs\": [\n    {\n     \"data\": {\"text/plain\": [\"'«weak»'\"]},\n     \"output_type\": \"execute_result\"\n    }\n   ],\n   \"source\": [\"password\"]\n  }\n ],\n \"nbformat\": 4\n}\n",
    ),
    (
        "notebook printed call",
        "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"source\": [\"print(get_password())\"],\n   \"outputs\": [\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": \"«weak»\\n\"\n    }\n   ]\n  }\n ],\n \"nbformat\": 4\n}\n",
    ),
    (
        "notebook frame",
        "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"df\"], \"outputs\": [{\"output_type\": \"execute_result\", \"data\": {\"text/html\": [\"<table><thead><tr><th>user</th><th>password</th></tr></thead><tbody>\\n\", \"<tr><td>bob</td><td>«weak»</td></tr></tbody></table>\"], \"text/plain\": [\"  user password\\n\", \"0  bob  «weak»\"]}}]}], \"nbformat\": 4}\n",
    ),
    ("value again", "password = \"«pw»\"\nprint(password)\n"),
    // Keys.
    ("rsa", "-----BEGIN RSA PRIVATE KEY-----\n«pem»\n-----END RSA PRIVATE KEY-----\n"),
    ("pkcs8", "-----BEGIN PRIVATE KEY-----\n«pem»\n-----END PRIVATE KEY-----\n"),
    ("encrypted", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n«pem»\n-----END ENCRYPTED PRIVATE KEY-----\n"),
    ("ec", "-----BEGIN EC PRIVATE KEY-----\n«pem»\n-----END EC PRIVATE KEY-----\n"),
    ("dsa", "-----BEGIN DSA PRIVATE KEY-----\n«pem»\n-----END DSA PRIVATE KEY-----\n"),
    ("openssh", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA«pem»\n-----END OPENSSH PRIVATE KEY-----\n"),
    (
        "ssh2",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: x\n«pem»\n---- END SSH2 ENCRYPTED PRIVATE KEY ----\n",
    ),
    (
        "pgp",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n«pem»\n=«b644»\n-----END PGP PRIVATE KEY BLOCK-----\n",
    ),
    (
        "putty",
        "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: x\nPublic-Lines: 1\nAAAAB3NzaC1yc2E\nPrivate-Lines: 4\n«pem»\nPrivate-MAC: «hex40»\n",
    ),
    (
        "putty 3",
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n«b6448»\nPrivate-MAC: «hex64»\n",
    ),
    (
        "key in comment",
        "# -----BEGIN RSA PRIVATE KEY-----\n# «b6464»\n# «b6464»\n# «b6430»\n# -----END RSA PRIVATE KEY-----\n",
    ),
    (
        "key in code",
        "KEY = (\"-----BEGIN RSA PRIVATE KEY-----\\n\"\n  \"«b6464»\\n\"\n  \"«b6464»\\n\"\n  \"«b6430»\\n\"\n  \"-----END RSA PRIVATE KEY-----\\n\")\n",
    ),
    (
        "key in yaml",
        "tls:\n  key: |\n    -----BEGIN PRIVATE KEY-----\n    «b6464»\n    «b6464»\n    «b6430»\n    -----END PRIVATE KEY-----\n",
    ),
    (
        "key in markdown quote",
        "> -----BEGIN RSA PRIVATE KEY-----\n> «b6464»\n> «b6464»\n> -----END RSA PRIVATE KEY-----\n",
    ),
    (
        "key in javadoc",
        "/*\n * -----BEGIN PRIVATE KEY-----\n * «b6464»\n * «b6464»\n * -----END PRIVATE KEY-----\n */\n",
    ),
    ("key in table", "| key | -----BEGIN PRIVATE KEY-----<br>«b6464»<br>«b6464»<br>-----END PRIVATE KEY----- |\n"),
    ("key without end", "-----BEGIN RSA PRIVATE KEY-----\n«b6464»\n«b6464»\n«b6464»\n"),
    (
        "key without head",
        "private key:\n\nMIIEpAIBAAKCAQEA«b6448»\n«b6464»\n«b6464»\n«b6464»\n«b6430»==\n-----END RSA PRIVATE KEY-----\n",
    ),
    ("key body alone", "MIIEpAIBAAKCAQEA«b6448»\n«b6464»\n«b6464»\n«b6464»\n«b6464»\n«b6430»==\n"),
    ("pkcs8 body alone", "key = \"\"\"\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC«b6432»\n«b6464»\n«b6464»\n«b6464»\n\"\"\"\n"),
    ("pkcs8 body on a line", "privateKey = \"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC«b64400»\"\n"),
    ("ec body on a line", "k = \"MHcCAQEEI«b64100»oAoGCCqGSM49AwEHoUQDQgAE«b6486»==\"\n"),
    (
        "openssh body alone",
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAA«b6412»\n«b6464»\n«b6464»\n«b6440»\n",
    ),
    (
        "key of notebook",
        "{\"cells\": [{\"cell_type\": \"code\", \"outputs\": [], \"source\": [\"k = '''-----BEGIN RSA PRIVATE KEY-----\\n\", \"«b6464»\\n\", \"«b6464»\\n\", \"-----END RSA PRIVATE KEY-----'''\\n\"]}]}\n",
    ),
    ("jwk", "{\"kty\": \"RSA\", \"n\": \"x\", \"e\": \"AQAB\", \"d\": \"«url256»\", \"p\": \"«url128»\"}\n"),
    ("jwk symmetric", "{\"kty\":\"oct\",\"k\":\"«url43»\",\"alg\":\"HS256\"}\n"),
    (
        "ssh private in env",
        "DEPLOY_KEY=\"-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXktdjEA«b6450»\\n«b6464»\\n-----END OPENSSH PRIVATE KEY-----\"\n",
    ),
];
