package risk

import (
	"strings"
	"testing"

	"agentswarm/risk/argv"
)

func TestIsDestructiveSQL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		give string
		want bool
	}{
		{"DROP TABLE users", true},
		{"drop/**/table users", true},
		{"/*!50000 DROP TABLE users */", true},
		{"select 1; truncate users", true},
		{"alter table t drop column c", true},
		{"alter table t alter c drop not null", false},
		{"alter table t drop constraint k", false},
		{"delete from users", true},
		{"DELETE FROM users WHERE 1=1", true},
		{"delete from users where id = 1", false},
		{"delete from users -- where id = 1", true},
		{"delete from users where id = '1'; delete from x", true},
		{"update t set a = 1", true},
		{"update t set a = 1 where id = 2", false},
		{"insert into t values (1) on conflict do update set a = 1", false},
		{"select 'drop table users'", false},
		{"select \"delete from x\", `drop table x`", false},
		{"select 'it''s drop table x'", false},
		{"-- drop table x", false},
		{"/* drop table x */ select 1", false},
		{"select deleted from t", false},
		{"select truncate(1.2, 1)", false},
		{"with d as (delete from t returning *) select * from d", true},
		{"do $$ begin drop table x; end $$", true},
		{"create table t (a int references u on delete cascade)", false},
		{"create trigger t before delete on x", false},
		{"explain analyze delete from t", true},
		{"", false},
	} {
		if got := isDestructiveSQL(c.give); got != c.want {
			t.Errorf("isDestructiveSQL(%q) = %v, want %v", c.give, got, c.want)
		}
	}
}

func TestOlder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, have string
		older      bool
	}{
		{"1.2.3", "1.2.4", true},
		{"1.2.4", "1.2.4", false},
		{"1.10.0", "1.9.0", false},
		{"v1.2", "1.3.0", true},
		{"1", "1.3.0", false},
		{"1.2.4-rc.1", "1.2.4", true},
		{"1.2.4", "1.2.4-rc.1", false},
		{"2.0.0-rc.10", "2.0.0-rc.9", false},
		{"2.0.0-rc.9", "2.0.0-rc.10", true},
		{"2.0.0rc9", "2.0.0rc10", true},
		{"2.0.0rc10", "2.0.0rc9", false},
		{"2.0.0-beta.3", "2.0.0-rc.1", true},
		{"2.0.0-rc", "2.0.0-rc.1", true},
		{"2.0.0-rc.1", "2.0.0-rc", false},
		{"2.0.0-1", "2.0.0-alpha", true},
		{"2.0.0-rc.1", "2.0.0-rc.1", false},
		{"2.0.rc1", "2.0", true},
		{"2.0.post1", "2.0", false},
		{"2.0", "2.0.post1", true},
		{"2.0.0.dev3", "2.0.0.dev12", true},
		{"v0.0.0-20230101000000-abcdef", "v0.0.0-20240101000000-aaaaaa", true},
		{"^1.0.0", "2.0.0", true},
		{"^2.0.0", "2.1.0", false},
		{"^0.2.0", "0.3.0", true},
		{"~2.0.0", "2.1.0", true},
		{"~>2.0", "2.1.0", false},
		{"~=2.0.1", "2.1.0", true},
		{"==1.*", "2.0.0", true},
		{"<2", "2.0.0", true},
		{"<2", "1.9.0", false},
		{"<=2", "2.1.0", false},
		{">=1,<2", "2.0.0", true},
		{">=1", "2.0.0", false},
		{"!=1.0", "2.0.0", false},
		{"1.x || 2.x", "2.0.0", false},
		{"latest", "2.0.0", false},
		{"none", "2.0.0", true},
		{"", "2.0.0", false},
		{"1.0", "main", false},
		{"99999999999999999999", "1.0", false},
	} {
		if got := older(c.want, c.have); got != c.older {
			t.Errorf("older(%q, %q) = %v, want %v", c.want, c.have, got, c.older)
		}
	}
}

func TestHostOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		give string
		want host
	}{
		{"http://localhost", hostLocal},
		{"localhost:8080/x", hostLocal},
		{"http://127.0.0.1:1/", hostLocal},
		{"http://127.1.2.3/", hostLocal},
		{"http://[::1]:80/", hostLocal},
		{"http://0.0.0.0:80", hostLocal},
		{"http://LOCALHOST./", hostLocal},
		{"http://user:pw@localhost/", hostLocal},
		{"http://localhost@example.com/", hostRemote},
		{"http://localhost:80@example.com/", hostRemote},
		{"http://example.com/#@localhost/", hostRemote},
		{"http://example.com?@localhost", hostRemote},
		{"http://example.com\\@localhost/", hostRemote},
		{"http://127.0.0.1.example.com/", hostRemote},
		{"http://[::2]/", hostRemote},
		{"http://[::1", hostRemote},
		{"example.com", hostRemote},
		{"", hostNone},
	} {
		if got := hostOf(argv.Known(c.give)); got != c.want {
			t.Errorf("hostOf(%q) = %v, want %v", c.give, got, c.want)
		}
	}
	for begin, want := range map[string]host{"": hostRemote, "http://localhost": hostRemote, "http://localhost/": hostLocal, "http://localhost:": hostRemote} {
		if got := hostOf(argv.Word{Value: begin}); got != want {
			t.Errorf("hostOf(%q…) = %v, want %v", begin, got, want)
		}
	}
}

func TestIsBranchName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"main", "feature/x", "a.b", "a-b_c", "feature/JIRA-1"} {
		if !isBranchName(name) {
			t.Errorf("isBranchName(%q) = false", name)
		}
	}
	for _, name := range []string{
		"", "@", "HEAD", "-x", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "/a", "a/", "a//b", "a.", ".a", "a/.b", "a.lock", "a.lock/b", "a@{b",
		"a\x7f", "a\nb", "а", strings.Repeat("a", 300),
	} {
		if isBranchName(name) {
			t.Errorf("isBranchName(%q) = true", name)
		}
	}
}

func TestIsCI(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		".github/workflows/ci.yml", ".github/actions/x/action.yml", ".gitlab-ci.yml", "sub/.gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", "ci/Jenkinsfile.release",
		"azure-pipelines.yml", "azure-pipelines-release.yml", ".travis.yml", "bitbucket-pipelines.yml", ".buildkite/pipeline.yml", ".drone.yml", ".woodpecker/x.yml",
		"cloudbuild.yaml", "buildspec.yml", "appveyor.yml", ".semaphore/semaphore.yml",
	} {
		if !isCI(file) {
			t.Errorf("isCI(%q) = false", file)
		}
	}
	for _, file := range []string{"", ".github/CODEOWNERS", ".github/workflows.md", "docs/ci.yml", "src/jenkins.go", "x.yml"} {
		if isCI(file) {
			t.Errorf("isCI(%q) = true", file)
		}
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("a1", 12)
	for _, c := range []struct{ give, want string }{
		{"git status", "git status"},
		{"git push https://user:pw@example.com/x", "git push https://user:[redacted]@example.com/x"},
		{"git clone https://" + token + "@example.com/x.git", "git clone https://[redacted]@example.com/x.git"},
		{"curl 'https://example.com/?a=b&access_token=x'", "curl 'https://example.com/?a=b&access_token=[redacted]'"},
		{"curl -H 'Authorization: Bearer abc' x", "curl -H 'Authorization: Bearer [redacted]' x"},
		{"curl -H \"Authorization: token abc\"", "curl -H \"Authorization: token [redacted]\""},
		{"curl -H 'X-Api-Key: abc'", "curl -H 'X-Api-Key: [redacted]'"},
		{"curl -H X-Api-Key:abc", "curl -H X-Api-Key:[redacted]"},
		{"curl -uname:pw x", "curl -uname:[redacted] x"},
		{"export GITHUB_TOKEN=abc", "export GITHUB_TOKEN=[redacted]"},
		{"PGPASSWORD='a' psql", "PGPASSWORD='[redacted]' psql"},
		{"x --token abc --y", "x --token [redacted] --y"},
		{"x --password=abc", "x --password=[redacted]"},
		{"x password=abc, y", "x password=[redacted], y"},
		{"x --token --y", "x --token --y"},
		{"aws AKIAABCDEFGHIJKLMNOP", "aws [redacted]"},
		{"x ghp_" + token, "x [redacted]"},
		{"x 'ghp_" + token + "'", "x '[redacted]'"},
		{"x key=sk-" + token, "x key=[redacted]"},
		{`{"password": "abc", "a": 1}`, `{"password": "[redacted]", "a": 1}`},
		{"a  b\n\tc ", "a  b\n\tc "},
		{"the token is there", "the token [redacted] there"},
		{"sk-learn", "sk-learn"},
		{"curl -u name:pw x", "curl -u name:[redacted] x"},
		{"curl -s --user 'name:pw' x", "curl -s --user 'name:[redacted]' x"},
		{"curl --user=name:pw x", "curl --user=name:[redacted] x"},
		{"curl -u name x:y", "curl -u name x:y"},
		{"mysql -u root -ppw x", "mysql -u root -p[redacted] x"},
		{"sshpass -p pw ssh h", "sshpass -p [redacted] ssh h"},
		{"redis-cli -a pw get x", "redis-cli -a [redacted] get x"},
		{"docker login -u x -p pw", "docker login -u x -p [redacted]"},
		{"docker run -p 80:80 x", "docker run -p 80:80 x"},
		{"ssh-keygen -N pw -f k", "ssh-keygen -N [redacted] -f k"},
		{"aws configure set aws_secret_access_key abc", "aws configure set aws_secret_access_key [redacted]"},
		{"npm config set //r.example/:_authToken=abc", "npm config set //r.example/:_authToken=[redacted]"},
		{"gh secret set X --body abc", "gh secret set X --body [redacted]"},
		{"kubectl create secret generic x --from-literal=pw=abc", "kubectl create secret generic x --from-literal=pw=[redacted]"},
		{"MY_PASS=abc SIGNING_KEY=abc GITHUB_PAT=abc x", "MY_PASS=[redacted] SIGNING_KEY=[redacted] GITHUB_PAT=[redacted] x"},
		{"sort --sort_key=abc", "sort --sort_key=abc"},
		{"curl https://hooks.slack.com/services/T/B/x -d a", "curl https://hooks.slack.com/services/[redacted] -d a"},
		{"curl https://api.telegram.org/bot1:x/send", "curl https://api.telegram.org/bot[redacted]/send"},
		{"curl 'https://example.com/?key=abc'", "curl 'https://example.com/?key=[redacted]'"},
		{"echo '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----' > k", "echo '-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----' > k"},
		{"echo -----BEGIN CERTIFICATE-----", "echo -----BEGIN CERTIFICATE-----"},
		{"", ""},
	} {
		if got := Redact(c.give); got != c.want {
			t.Errorf("Redact(%q) = %q, want %q", c.give, got, c.want)
		}
	}
}

// TestRedactIsCheap holds that a long text takes no more than a copy or two for
// each word: whole files are looked at, while their agent waits.
func TestRedactIsCheap(t *testing.T) { // allocations are counted
	const words = 1000
	for _, c := range []struct {
		word string
		most float64 // for each
	}{
		{"a.b=x ", 1.1}, {"token=x ", 2.1}, {"--token ", 2.1}, {"A_TOKEN=x ", 3.1}, {"--x=y ", 0.1},
	} {
		text := strings.Repeat(c.word, words)
		if got := testing.AllocsPerRun(3, func() { _ = Redact(text) }) / words; got > c.most {
			t.Errorf("Redact takes %.1f allocations for each %q, want at most %.1f", got, c.word, c.most)
		}
	}
}
