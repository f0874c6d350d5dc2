package agent

// Credential tells whether a variable looks like one that holds a credential:
// by its name, or by a value that is a URL with a user and a password. Agents
// are not handed such variables unless their spec names them, and nobody is
// shown their values.
func Credential(name, value string) bool {
	return secret(name) || login().MatchString(value)
}
