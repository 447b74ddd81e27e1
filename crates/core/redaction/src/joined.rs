//! Surroundings of base64 on several lines in which the text between two lines depends on the language:
//! blocks of markup, lists and statements that append.

/// A label, the text before the first line, the text between two lines, and the text after the last line.
pub type Joined = (&'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
pub const JOINED: &[Joined] = &[
    ("markdown indented", "The secret is:\n\n    ", "\n    ", "\n\nThe end.\n"),
    ("markdown fence", "The client secret (base64):\n\n```text\n", "\n", "\n```\n"),
    ("markdown fence of tildes", "The API token for staging is:\n\n~~~\n", "\n", "\n~~~\n"),
    ("markdown heading", "## Client secret\n\n```\n", "\n", "\n```\n"),
    ("asciidoc block", "Secret key::\n+\n----\n", "\n", "\n----\n"),
    ("rst block", "The secret key::\n\n    ", "\n    ", "\n\nThe end.\n"),
    ("org block", "Secret key:\n\n#+begin_example\n", "\n", "\n#+end_example\n"),
    ("javascript array, closed at once", "const secret = ['", "',\n  '", "'].join('');\n"),
    ("python literals, closed at once", "secret = ('", "'\n          '", "')\n"),
    ("python join", "SECRET_KEY = \"\".join([\"", "\",\n    \"", "\"])\n"),
    ("array on one line", "{\"secret_key\": [\"", "\", \"", "\"]}\n"),
    ("ruby array", "SECRET = [\n  \"", "\",\n  \"", "\"\n].join.freeze\n"),
    ("php implode", "$secret = implode('', ['", "', '", "']);\n"),
    ("go join", "var secretKey = strings.Join([]string{\"", "\",\n\t\"", "\"}, \"\")\n"),
    ("java join", "String secret = String.join(\"\", \"", "\",\n    \"", "\");\n"),
    ("lisp concat", "(defvar secret-key (concat \"", "\"\n  \"", "\"))\n"),
    ("python append", "secret = \"", "\"\nsecret += \"", "\"\nprint(1)\n"),
    ("javascript append", "let apiSecret = '';\napiSecret += '", "';\napiSecret += '", "';\nrun();\n"),
    ("php append", "$secret_key = '", "';\n$secret_key .= '", "';\n"),
    ("shell append", "SECRET_KEY=\"", "\"\nSECRET_KEY+=\"", "\"\nexport SECRET_KEY\n"),
    ("shell append, variable", "SECRET=\"", "\"\nSECRET=\"${SECRET}", "\"\n"),
    ("shell append, bare", "API_TOKEN=", "\nAPI_TOKEN+=", "\n"),
    ("java builder", "StringBuilder secret = new StringBuilder();\nsecret.append(\"", "\");\nsecret.append(\"", "\");\n"),
    ("c strcat", "strcpy(secret, \"", "\");\nstrcat(secret, \"", "\");\n"),
    ("java sum", "secret = \"", "\";\nsecret = secret + \"", "\";\n"),
    ("lua append", "local secret = \"", "\"\nsecret = secret .. \"", "\"\n"),
    ("visual basic append", "secret = \"", "\"\nsecret = secret & \"", "\"\n"),
    ("powershell append", "$secret = '", "'\n$secret += '", "'\n"),
    ("pl/sql append", "v_secret := '", "';\nv_secret := v_secret || '", "';\n"),
    ("cmake append", "set(API_SECRET \"", "\")\nstring(APPEND API_SECRET \"", "\")\n"),
    ("makefile append", "API_SECRET := ", "\nAPI_SECRET += ", "\n"),
    ("batch append", "set SECRET=", "\nset SECRET=%SECRET%", "\n"),
];

/// The rules were not adapted to these surroundings.
#[rustfmt::skip]
pub const JOINED_HELD_BACK: &[Joined] = &[
    ("tcl append", "set apiSecret \"", "\"\nappend apiSecret \"", "\"\n"),
    ("rust push", "let mut api_secret = String::new();\napi_secret.push_str(\"", "\");\napi_secret.push_str(\"", "\");\n"),
    ("swift append", "var clientSecret = \"", "\"\nclientSecret.append(\"", "\")\n"),
    ("c++ stream", "clientSecret << \"", "\";\nclientSecret << \"", "\";\n"),
    ("field append", "this.clientSecret = '", "';\n    this.clientSecret += '", "';\n"),
    ("perl append", "our $api_token = \"", "\";\n$api_token = $api_token . \"", "\";\n"),
    ("ruby append", "client_secret = +''\nclient_secret << '", "'\nclient_secret << '", "'\n"),
    ("c++ append", "api_token.append(\"", "\");\n  api_token.append(\"", "\");\n"),
    ("pascal append", "ApiToken := '", "';\n  ApiToken := ApiToken + '", "';\n"),
    ("fish append", "set CLIENT_SECRET '", "'\nset CLIENT_SECRET $CLIENT_SECRET'", "'\n"),
    ("c array", "const char *api_token[] = { \"", "\",\n    \"", "\" };\n"),
    ("kotlin list", "val apiToken = listOf(\"", "\",\n    \"", "\").joinToString(\"\")\n"),
    ("rust concat", "const API_TOKEN: &str = concat!(\"", "\",\n    \"", "\");\n"),
    ("yaml list", "api_token:\n  - ", "\n  - ", "\nother: 1\n"),
    ("yaml flow", "api_token: ['", "', '", "']\n"),
    ("toml array", "api_token = [\n  \"", "\",\n  \"", "\"\n]\n"),
    ("markdown, two paragraphs", "This is the API token of the host:\n\n```base64\n", "\n", "\n```\n"),
    ("html pre", "<p>The API token:</p>\n<pre>\n", "\n", "\n</pre>\n"),
    ("textile block", "The API token is:\n\nbc. ", "\n", "\n\np. The end.\n"),
    ("latex block", "The API token:\n\\begin{verbatim}\n", "\n", "\n\\end{verbatim}\n"),
    ("asciidoc paragraph", "API token:\n\n....\n", "\n", "\n....\n"),
    ("bold label", "**API token**\n\n    ", "\n    ", "\n"),
];
