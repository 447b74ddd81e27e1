//! Checks which words of command lines are recognised as passwords, in plain text and inside strings of
//! programs.

use std::ops::Range;

use crate::command::{COMMANDS, LastCommand, options, passwords};
use crate::piped::{READERS, piped};

type Reader = fn(&[u8], &Range<usize>, &mut usize) -> Vec<Range<usize>>;

fn found(text: &str) -> Vec<&str> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut read = |keywords: &[&str], read: Reader| {
        for keyword in keywords {
            for (at, _) in lower.match_indices(&keyword.to_ascii_lowercase()) {
                found.extend(read(text.as_bytes(), &(at..at + keyword.len()), &mut 100_000));
            }
        }
    };
    read(COMMANDS, |text, hit, budget| passwords(text, hit, &mut LastCommand::default(), budget));
    read(READERS, piped);
    let mut found: Vec<&str> = found.into_iter().map(|value| &text[value]).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn passwords_of_commands_are_found() {
    let value = "k3J9,xQ7@wZ";
    for command in [
        "mysql -uroot -p§ shop",
        "/usr/bin/mysqldump -u root -p'§' shop > x.sql",
        "mysqladmin -u root password §",
        "sshpass -p§ ssh h",
        "sshpass -p \"§\" ssh h",
        "redis-cli -h cache -a § ping",
        "docker login -u bob -p § r.io",
        "curl -s -u bob:§ https://h/",
        "curl --user='bob:§' https://h/",
        "curl --proxy-user \"bob:§\" https://h/",
        "smbclient //h/s -U 'acme\\bob%§'",
        "ldapsearch -D cn=a -w § -b dc=b",
        "mongosh -u a -p § x",
        "psexec \\\\h -u bob -p § cmd",
        "htpasswd -bB file bob §",
        "htpasswd -nb bob §",
        "openssl rsa -passin pass:§ -in k",
        "openssl enc -aes-256-cbc -k § -in a",
        "x -passout 'pass:§'",
        "zip -P § a.zip b",
        "unzip -P § a.zip",
        "7z a -p§ a.7z b",
        "net use X: \\\\host\\share § /user:u",
        "net use \\\\host\\share /user:acme\\u § /persistent:yes",
        "sqlplus -s scott/§@orcl",
        "sqlplus scott/\"§\"@//db:1521/x",
        "sqlldr userid=scott/§@orcl",
        "sqlcmd -S db -U sa -P § -Q x",
        "net user bob § /add",
        "lftp -u bob,§ ftp.h.io",
        "schtasks /create /ru bob /rp § /tn x",
        "openssl passwd -6 §",
        "redis-server --requirepass §",
        "keytool -keystore k -storepass §",
        "/msg NickServ IDENTIFY §",
        "echo 'bob:§' | chpasswd",
        "echo bob:§ | sudo chpasswd -e",
        "chpasswd <<< 'bob:§'",
        "echo § | passwd --stdin bob",
        "printf '%s' § | sudo passwd --stdin bob",
        "echo -e \"§\\n§\" | passwd bob",
        "echo § | docker login -u bob --password-stdin",
        "echo § | sudo -S ls",
    ] {
        for around in ["@\n", "RUN @ && x\n", "run(\"@\")", "`@` first", "\"a\\n@\\nb\""] {
            let is_quoted = around.contains('"') && command.contains('"');
            let text = around.replace('@', &command.replace('§', "§§")).replace("§§", value);
            assert!(is_quoted || found(&text) == [value], "{text}: {:?}", found(&text));
        }
    }
}

#[test]
fn other_arguments_are_not_redacted() {
    for command in [
        "ssh -p 8080 host",
        "docker run -p 8080:80 image1",
        "mkdir -p build/x86_64",
        "cp -p file1.txt b",
        "mysql -u root -p shop_2024",
        "mysql -h db -P 3306 -p",
        "mysql -p$MYSQL_PASSWORD x",
        "mysql -p\"${PASS}\" x",
        "mysql --protocol=tcp1 -protocol=tcp1",
        "mysql_connect('a1b2c3d4')",
        "php-mysql -pk3J9xQ7wZ",
        "docker login -u $USER -p $TOKEN",
        "docker login -p <your-token1>",
        "curl -u user:password https://h/",
        "curl -u \"$USER:$PASS\" https://h/",
        "curl --user-agent mozilla:5.0x1 https://h/",
        "sshpass -p \"$(cat file1)\" ssh h",
        "redis-cli -p 6379 -a {{ password1 }}",
        "htpasswd -c file1 bob user2024",
        "net use X: \\\\host\\share2024 * /user:u",
        "sqlplus / as sysdba",
        "net user experience with k3J9xQ7wZ servers",
        "net user bob * /add",
        "openssl passwd -stdin",
        "chpasswd < passwords2.txt",
        "sqlplus /nolog @script1.sql",
        "sqlplus docs/report1.sql",
        "openssl rsa -passin env:K3J9xQ7wZ -in k",
        "zip -p archive1.zip b1c2d3e4",
        "echo k3J9xQ7wZ | sudo -s ls",
        "echo 'version 12' | git hash-object --stdin",
        "echo $PASSWORD | passwd --stdin bob",
        "echo \"bob:$PASS1\" | chpasswd",
        "echo 'Changing the password of bob2' | passwd --stdin bob",
        "requirepass foobared",
        "MasterAuth *MasterAuth `json:\"masterAuth,omitempty2\"`",
    ] {
        assert_eq!(found(&format!("{command}\n")), [""; 0], "{command}");
    }
}

#[test]
fn password_follows_user_and_option() {
    let found = |text: &str| {
        let at = text.to_ascii_lowercase().find("-u ").expect("an option");
        options(text.as_bytes(), &(at..at + 3), &mut 10_000).map(|value| text[value].to_owned())
    };
    for text in ["twine upload -u bob -p k3J9@xQ7w x", "tool -U bob -P 'k3J9@xQ7w'", "tool -u bob -pk3J9@xQ7w"] {
        assert_eq!(found(text).as_deref(), Some("k3J9@xQ7w"), "{text}");
    }
    for text in ["mysql -u root -p shop2024", "psql -U bob -p 5433 shop1", "tool -u bob -p -x", "a -u bob x1"] {
        assert_eq!(found(text), None, "{text}");
    }
}

#[test]
fn exhausted_budget_reads_nothing() {
    let text = b"mysql -pk3J9xQ7wZ";
    let last = &mut LastCommand::default();
    assert!(passwords(text, &(0..5), last, &mut 0).is_empty());
    let budget = &mut 10_000;
    assert!(!passwords(text, &(0..5), last, budget).is_empty() && *budget < 10_000);
}

#[test]
fn passwords_in_argument_lists_are_found() {
    for text in [
        "run([\"sshpass\", \"-p\", \"k3J9,xQ7@wZ\", \"ssh\", \"h\"])",
        "spawn('mysql', ['-u', 'root'], x)\nspawn('mysql', '-uroot', '-pk3J9,xQ7@wZ')",
        "CMD [\"redis-cli\", \"-a\",\n  \"k3J9,xQ7@wZ\"]",
    ] {
        assert_eq!(found(text), ["k3J9,xQ7@wZ"], "{text}");
    }
    for text in ["run([\"mysql\", \"-p\", \"shop2024\"])", "x = {\"mysql\": \"-pk3J9xQ7wZ\"}", "f(\"mysql\", k3J9xQ7)"]
    {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn command_name_inside_the_last_command_is_not_parsed_again() {
    let text = b"mysql -pk3J9xQ7wZ mysql -pq8X2wmQ4z\nmysql -pk3J9xQ7wZ";
    let last = &mut LastCommand::default();
    let mut read = |at: usize| passwords(text, &(at..at + 5), last, &mut 10_000).len();
    assert_eq!((read(0), read(18), read(36)), (2, 0, 1));
}

#[test]
fn passwords_in_here_documents_are_found() {
    for text in ["chpasswd <<EOF\nbob:k3J9,xQ7@wZ\nEOF\nann:q8X2wmQ4z", "chpasswd <<-'E'\n\tbob:k3J9,xQ7@wZ\n\tE\n"] {
        assert_eq!(found(text), ["k3J9,xQ7@wZ"], "{text}");
    }
}
