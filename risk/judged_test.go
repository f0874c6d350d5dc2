package risk

// judged is a command as it is typed, and the text of its finding.
type judged struct{ give, want string }

// judgedPaths are calls that write, remove or change files.
func judgedPaths() []judged {
	return []judged{
		{"rm $x", "DESTRUCTIVE rm-recursive remove-outside"},
		{"rm -rf /tmp/x", "DESTRUCTIVE rm-recursive"},
		{"rm *.o", "SAFE"},
		{"rm */../../*", "DESTRUCTIVE remove-outside"},
		{"rm .g*", "HARD_TO_REVERSE ci"},
		{"rm J*", "HARD_TO_REVERSE ci"},
		{"rm *", "HARD_TO_REVERSE ci"}, // Jenkinsfile is there
		{"tee logs/$", "SAFE"},
		{"tee .github/work$", "HARD_TO_REVERSE ci"},
		{"tee $x", "HARD_TO_REVERSE write-unknown"},
		{"cp -r x/workflows .github", "HARD_TO_REVERSE ci"},
		{"cp -t .github/workflows x", "HARD_TO_REVERSE ci"},
		{"sed -i -e s/a/b/ Jenkinsfile", "HARD_TO_REVERSE ci"},
		{"sed -i.bak s/a/b/ Jenkinsfile", "HARD_TO_REVERSE ci"},
		{"perl -pi -e s/a/b/ Jenkinsfile", "HARD_TO_REVERSE ci"},
		{"dd if=x of=Jenkinsfile", "HARD_TO_REVERSE ci"},
		{"dd if=x of=src/a.go", "DESTRUCTIVE overwrite"},
		{"dd if=x of=/tmp/a", "SAFE"},
		{"gsutil -m rm -r gs://b/x", "DESTRUCTIVE cloud-destroy"},
		{"ln -sf x .travis.yml", "HARD_TO_REVERSE ci"},
		{"git mv .github/workflows/a.yml b", "HARD_TO_REVERSE ci"},
		{"wget -O .gitlab-ci.yml https://example.com/x", "HARD_TO_REVERSE ci"},
		{"tee link", "HARD_TO_REVERSE write-unknown"},
		{"tee link/x", "HARD_TO_REVERSE write-unknown"},
		{"rm link", "SAFE"},
		{"rm link/x", "DESTRUCTIVE remove-outside"},
		{"rm -r link/*", "DESTRUCTIVE rm-recursive remove-outside"},
		{"chmod 644 $x", "SAFE"},
		{"chmod 644 ./$", "SAFE"},
		{"chmod -R 644 $x", "DESTRUCTIVE mode-tree-outside"},
		{"chown -R u /", "DESTRUCTIVE mode-tree-outside"},
	}
}

// judgedGit are calls of git.
func judgedGit() []judged {
	return []judged{
		{"git $x", "DESTRUCTIVE unresolved"},
		{"git -C sub $x", "DESTRUCTIVE unresolved"},
		{"git stash $x", "DESTRUCTIVE unresolved"},
		{"git checkout $x", "DESTRUCTIVE git-discard"},
		{"git checkout src/a.go", "DESTRUCTIVE git-discard"},
		{"git checkout feature/x", "SAFE"},
		{"git checkout main src/a.go", "DESTRUCTIVE git-discard"},
		{"git push origin $x", "HARD_TO_REVERSE git-push-force git-push-delete"},
		{"git push --repo --dry-run", "VISIBLE git-push"},
		{"git push --unheard --dry-run", "VISIBLE git-push"},
		{"git push --d x", "HARD_TO_REVERSE git-push-delete"}, // --delete or --dry-run
		{"git push --dry-run --no-dry-run", "VISIBLE git-push"},
		{"git push --force --no-force", "HARD_TO_REVERSE git-push-force"},
	}
}

// judgedOthers are calls of all other programs.
func judgedOthers() []judged {
	return []judged{
		{"kubectl --unheard of delete pod x", "DESTRUCTIVE cloud-destroy"},
		{"kubectl apply --dry-run=none -f x", "VISIBLE cloud-change"},
		{"npm run $x", "VISIBLE deploy"},
		{"npm install lodash@3", "HARD_TO_REVERSE downgrade"},
		{"npm install lodash@4", "SAFE"},
		{"npm install lodash@^4.0.0", "SAFE"},
		{"npm install @a/b@1", "SAFE"},
		{"pip install requests<2.31", "HARD_TO_REVERSE downgrade"},
		{"pip install requests[socks]==2.30", "HARD_TO_REVERSE downgrade"},
		{"pip install requests~=2.31", "SAFE"},
		{"go get golang.org/x/text@v0.3.0", "HARD_TO_REVERSE downgrade"},
		{"go get golang.org/x/text@none", "HARD_TO_REVERSE downgrade"},
		{"cargo update -p serde --precise 1.0.100", "HARD_TO_REVERSE downgrade"},
		{"kill -0 1", "SAFE"},
		{"kill -9 -0", "DESTRUCTIVE kill"},
		{"kill %1", "SAFE"},
		{"mywrap rm -rf src", "DESTRUCTIVE suspect"},
		{"mywrap --x git push --force", "HARD_TO_REVERSE suspect"},
		{"mywrap rm", "SAFE"},
		{"grep rm -rf src", "SAFE"},
		{"echo rm -rf src", "SAFE"},
		{"man git-push", "SAFE"},
		{"swarm risk explain rm -rf src", "SAFE"},
		{"./deploy.sh", "VISIBLE deploy-program"},
		{"./deploy.sh --dry-run", "SAFE"},
		{"curl $url", "SAFE"},
		{"curl -d x $url", "VISIBLE http-post"},
		{"curl -d x http://localhost@example.com/", "VISIBLE http-post"},
		{"curl -d x http://localhost.example.com/", "VISIBLE http-post"},
		{"curl -d x http://127.0.0.1:8080/a", "SAFE"},
		{"curl -d x localhost:8080", "SAFE"},
		{"frobnicate --all", "SAFE"},
	}
}
