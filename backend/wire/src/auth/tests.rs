//! Tests of authentication, both sides against each other and against `mysql_common`.
