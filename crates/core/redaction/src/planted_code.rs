//! Source code with secrets, for the tests in `planted_tests`.

/// Texts with secrets that are identified only by the surrounding text. The label of each text identifies it
/// in the message of a failed test.
pub(crate) const CODE: &[(&str, &str)] = &[
    (
        "python",
        "password = '«weak»'\npasswd = \"«pw»\"\npwd='«weak»'\nself.api_key = \"«an32»\"\nDB_PASS: str = '«weak»'\n",
    ),
    ("python spaces", "password = 'my «words»'\n"),
    (
        "python call",
        "connect(host='db', user='app', password='«weak»')\nredis.Redis(password=\"«pw»\")\nlogin(\"bob\", password = '«weak»')\n",
    ),
    ("python default", "def f(user, password='«weak»', token: str = \"«an32»\"):\n    pass\n"),
    ("python dict", "c = {'user': 'x', 'password': '«weak»', \"secret\": \"«pw»\"}\nc['password'] = '«weak»'\n"),
    (
        "python environ",
        "os.environ['DB_PASSWORD'] = '«weak»'\nos.environ.get('API_KEY', '«an32»')\nos.getenv(\"SECRET_TOKEN\", \"«hex40»\")\n",
    ),
    ("python compare", "if password == '«weak»':\n    ok()\n"),
    (
        "python auth",
        "requests.get(u, auth=('bob', '«weak»'))\nHTTPBasicAuth('bob', '«pw»')\nsmtp.login('bob@acme.io', '«weak»')\nssh.connect('h', username='b', password='«weak»')\n",
    ),
    ("python bytes", "SECRET = b\"«an32»\"\nhmac.new(b'«an32»', m)\n"),
    ("python f-string", "url = f\"postgres://app:«weak»@{host}/x\"\n"),
    ("python triple", "password = \"\"\"«weak»\"\"\"\n"),
    ("python keyring", "keyring.set_password('svc', 'bob', '«weak»')\n"),
    (
        "javascript",
        "const password = '«weak»';\nlet apiKey = `«an32»`;\nvar c = { password: \"«weak»\", 'secret': '«pw»' };\nmodule.exports.dbPassword = '«weak»';\n",
    ),
    (
        "javascript fallback",
        "const secret = process.env.SECRET || '«weak»';\nconst k = process.env.API_KEY ?? \"«an32»\";\n",
    ),
    ("javascript jwt", "jwt.sign(payload, '«weak»');\njwt.verify(t, \"«an32»\")\n"),
    ("javascript bearer", "headers: { Authorization: 'Bearer «an40»', 'x-api-key': \"«an32»\" }\n"),
    (
        "javascript basic",
        "headers.set('Authorization', 'Basic «basic»')\naxios.get(u, { auth: { username: 'b', password: '«weak»' } })\n",
    ),
    ("typescript", "private readonly password: string = '«weak»';\nexport const API_TOKEN: string = \"«an40»\";\n"),
    ("jsx", "<Login password=\"«weak»\" apiKey={'«an32»'} />\n"),
    (
        "java",
        "private static final String PASSWORD = \"«weak»\";\nString dbPwd = \"«pw»\";\nds.setPassword(\"«weak»\");\nDriverManager.getConnection(\"jdbc:mysql://db/x\", \"root\", \"«weak»\");\n",
    ),
    ("java char array", "char[] password = \"«weak»\".toCharArray();\n"),
    ("java annotation", "@Value(\"${db.password:«weak»}\")\nString p;\n"),
    ("java properties", "props.setProperty(\"password\", \"«weak»\");\nprops.put(\"mail.password\", \"«pw»\");\n"),
    ("spring", "User.withUsername(\"bob\").password(\"{noop}«weak»\").build();\n"),
    ("kotlin", "val password = \"«weak»\"\nconst val API_KEY = \"«an32»\"\n"),
    ("swift", "let password = \"«weak»\"\nstatic let apiKey: String = \"«an32»\"\n"),
    (
        "go",
        "const password = \"«weak»\"\nvar apiKey string = \"«an32»\"\npassword := `«weak»`\ncfg := Config{User: \"a\", Password: \"«weak»\"}\nreq.SetBasicAuth(\"bob\", \"«weak»\")\n",
    ),
    ("go bytes", "var jwtSecret = []byte(\"«weak»\")\n"),
    ("go setenv", "os.Setenv(\"DB_PASSWORD\", \"«weak»\")\nt.Setenv(\"API_KEY\", \"«an32»\")\n"),
    (
        "rust",
        "const PASSWORD: &str = \"«weak»\";\nlet api_key = \"«an32»\".to_string();\nlet p = Secret::new(password: \"«weak»\");\n.basic_auth(\"bob\", Some(\"«weak»\"))\n",
    ),
    ("rust env", "std::env::set_var(\"DB_PASSWORD\", \"«weak»\");\n"),
    (
        "c",
        "#define PASSWORD \"«weak»\"\n#define WIFI_PASS \"«pw»\"\nconst char *password = \"«weak»\";\nstatic const char api_key[] = \"«an32»\";\n",
    ),
    ("c++", "std::string password{\"«weak»\"};\nauto token = std::string(\"«an32»\");\n"),
    ("arduino", "const char* ssid = \"x\";\nconst char* pass = \"«weak»\";\nWiFi.begin(\"x\", \"«weak»\");\n"),
    (
        "c#",
        "string password = \"«weak»\";\nvar pwd = @\"«pw»\";\nnew NetworkCredential(\"bob\", \"«weak»\");\npublic string ApiKey { get; set; } = \"«an32»\";\n",
    ),
    (
        "php",
        "$password = '«weak»';\n$config['db_pass'] = \"«pw»\";\n'password' => '«weak»',\nmysqli_connect('db', 'root', '«weak»', 'x');\nnew PDO('mysql:host=db', 'root', '«weak»');\n",
    ),
    (
        "ruby",
        "password = '«weak»'\n:password => '«weak»',\npassword: \"«pw»\",\nENV['API_KEY'] = '«an32»'\nhttp.basic_auth 'bob', '«weak»'\n",
    ),
    (
        "perl",
        "my $password = '«weak»';\nDBI->connect('dbi:mysql:x', 'root', '«weak»');\n%c = (password => \"«pw»\");\n",
    ),
    ("lua", "local password = \"«weak»\"\nconfig.secret = '«pw»'\n"),
    ("elixir", "config :app, Repo, password: \"«weak»\", secret_key_base: \"«url64»\"\n"),
    ("scala", "val password = \"«weak»\"\ndb.default.password=\"«pw»\"\n"),
    ("haskell", "password = \"«weak»\"\napiKey :: String\napiKey = \"«an32»\"\n"),
    ("r", "con <- dbConnect(d, password = \"«weak»\")\npassword <- \"«weak»\"\n"),
    (
        "powershell",
        "$password = \"«weak»\"\n$SecurePassword = ConvertTo-SecureString \"«pw»\" -AsPlainText -Force\n-Password '«weak»'\n",
    ),
    ("batch", "set PASSWORD=«weak»\nset \"API_KEY=«an32»\"\n"),
    (
        "shell",
        "PASSWORD=«weak»\nexport DB_PASS='«pw»'\nreadonly TOKEN=\"«hex40»\"\nDB_PASSWORD=\"${DB_PASSWORD:-«weak»}\"\nlocal pass=«weak»\n",
    ),
    ("shell flags", "app --password «weak» --token=«an32» --api-key '«an32»' --secret «weak»\n"),
    ("shell array", "args=(--password «weak» --db-pass=«weak»)\n[\"--password\", \"«weak»\"]\n"),
    ("makefile", "PASSWORD := «weak»\nTOKEN ?= «an32»\n"),
    ("cmake", "set(API_KEY \"«an32»\")\nset(PASSWORD «weak»)\n"),
    ("vb", "Dim password As String = \"«weak»\"\n"),
    ("dart", "final String password = '«weak»';\nconst apiKey = \"«an32»\";\n"),
    ("joined", "password = \"hun\" + \"«weak»\"\n"),
    ("xor split", "token = \"ghp_\" + \"«an36»\"\n"),
];
