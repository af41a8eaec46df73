"""What tools print when they fail, with the places that differ between machines left open."""

from __future__ import annotations

# {home}, {user}, {n}, {hex} and {time} are filled in
ERRORS = (
    "Traceback (most recent call last):\n  File \"{home}/a/b.py\", line {n}, in <module>\nKeyError: '{user}'",
    "FileNotFoundError: [Errno 2] No such file or directory: '{home}/data/{n}.csv'",
    "Error: ENOENT: no such file or directory, open '{home}/app/package.json'\n    at Object.openSync (node:fs:{n}:3)",
    "{home}/web/src/App.tsx({n},5): error TS2304: Cannot find name 'x'.",
    "TypeError: Cannot read properties of undefined (reading '{user}')\n    at run ({home}/x/index.js:{n}:11)",
    (
        "panic: open {home}/go/conf.yaml: no such file or directory\n\ngoroutine {n} [running]:\nmain.main()"
        "\n\t{home}/main.go:{n} +0x1d"
    ),
    "thread 'main' panicked at src/main.rs:{n}:5:\nindex out of bounds: the len is {n} but the index is {n}",
    "error[E0382]: borrow of moved value: `{user}`\n  --> src/main.rs:{n}:9",
    "{time} ERROR [main] o.a.Pool - Connection to 10.0.0.1:{n} refused",
    "{home}/lib/x.rb:{n}:in `call': undefined method `{user}' for nil:NilClass (NoMethodError)",
    "PHP Fatal error:  Uncaught Exception: no row {n} in {home}/www/index.php:{n}",
    "{home}/src/x.cpp:{n}:7: error: '{user}' was not declared in this scope",
    "fatal: not a git repository: {home}/repo/.git",
    "fatal: bad object {hex}",
    'FATAL:  password authentication failed for user "{user}"',
    'psql: error: connection to server at "10.0.0.7", port {n} failed: FATAL:  role "{user}" does not exist',
    "ERROR 1045 (28000): Access denied for user '{user}'@'localhost' (using password: YES)",
    "npm ERR! code EACCES\nnpm ERR! syscall mkdir\nnpm ERR! Error: EACCES: permission denied, mkdir '{home}/x'",
    "bash: line {n}: {home}/run.sh: Permission denied",
    "docker: Error response from daemon: No such container: {hex}",
    "ls: cannot access '{home}/x': No such file or directory",
    "java.lang.OutOfMemoryError: unable to allocate {n} bytes\n\tat org.a.B.c(B.java:{n})",
    'ERROR: failed to solve: process "/bin/sh -c make -j{n}" did not complete successfully: exit code: {n}',
)

# what is printed, the exception or code, and the template
PRINTED = (
    (
        'Traceback (most recent call last):\n  File "a.py", line 1\nsqlalchemy.exc.NoResultFound: No row was found',
        "NoResultFound",
        "No row was found",
    ),
    ("ModuleNotFoundError: No module named 'numpy'", "ModuleNotFoundError", "No module named <name>"),
    ("src/a.ts(3,5): error TS2304: Cannot find name 'foo'.", "TS2304", "Cannot find name <name>."),
    ("error[E0382]: borrow of moved value: `x`\n --> src/main.rs:3:5", "E0382", "borrow of moved value: <name>"),
    ("thread 'main' panicked at src/main.rs:2:5:\nattempt to divide by zero", "", "attempt to divide by zero"),
    (
        "panic: runtime error: index out of range [5] with length 3",
        "panic",
        "index out of range [<number>] with length <number>",
    ),
    ("main.c:3:1: error: unknown type name 'foo'", "", "unknown type name <name>"),
    ("/usr/bin/ld: main.o: undefined reference to `foo'", "ld", "<path>: undefined reference to <name>"),
    (
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree",
        "ERESOLVE",
        "ERESOLVE unable to resolve dependency tree",
    ),
    (
        "ERROR: No matching distribution found for nothing==9.9",
        "",
        "No matching distribution found for nothing==<version>",
    ),
    ("error: failed to select a version for `serde`.", "", "failed to select a version for <name>."),
    ("* What went wrong:\nExecution failed for task ':app:compileJava'.", "", "Execution failed for task <name>."),
    (
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?",
        "",
        "Cannot connect to the Docker daemon at <url> Is it running?",
    ),
    ("fatal: refusing to merge unrelated histories", "", "refusing to merge unrelated histories"),
    ("zsh: command not found: cargo", "", "<name>: not found"),
    (
        "ERROR 1064 (42000): You have an error in your SQL syntax near 'x' at line 1",
        "ERROR 1064 (42000)",
        "You have an error in your SQL syntax near <name> at line <number>",
    ),
    ('ERROR:  relation "users" does not exist', "", "relation <name> does not exist"),
    ("ORA-00942: table or view does not exist", "ORA-00942", "table or view does not exist"),
    ("sqlite3.OperationalError: no such table: users", "OperationalError", "no such table: users"),
    (
        "PHP Parse error:  syntax error, unexpected '}' in /var/www/a.php on line 7",
        "",
        "syntax error, unexpected <name> in <path> on line <number>",
    ),
    (
        "a.rb:3:in `call': undefined method `x' for nil:NilClass (NoMethodError)",
        "NoMethodError",
        "undefined method <name> for nil:NilClass",
    ),
    ("Caused by: java.lang.NullPointerException: pool", "NullPointerException", "pool"),
    ("e: Unresolved reference: foo", "", "Unresolved reference: foo"),
)
