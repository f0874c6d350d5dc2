package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func none(int) (bool, error) { return false, nil }

func TestCopies(t *testing.T) {
	t.Parallel()
	s := scratch(t)
	if left, err := s.LeftCopies(); err != nil || len(left) > 0 {
		t.Fatalf("LeftCopies before there is one = %v, %v", left, err)
	}
	r, o := created(t, s)
	mustClose(t, o)
	first, err := r.NewCopy("a3", none)
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.NewCopy("a3", func(n int) (bool, error) { return n == 2, nil })
	if err != nil {
		t.Fatal(err)
	}
	if first.Name() != "a3-1" || second.Name() != "a3-3" || filepath.Dir(first.Dir) != s.Copies() {
		t.Errorf("copies are %+v and %+v, want a3-1 and a3-3", first, second)
	}
	wrong := errors.New("wrong")
	if _, err := r.NewCopy("a3", func(int) (bool, error) { return false, wrong }); !errors.Is(err, wrong) {
		t.Errorf("NewCopy = %v, want the error of taken", err)
	}

	// Both are in use. Files of other programs there are not ours.
	for _, name := range []string{"stranger", r.ID + ".a3-01", r.ID + ".b-1", r.ID} {
		if err := os.Mkdir(filepath.Join(s.Copies(), name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := s.LeftCopies(); err != nil || len(left) > 0 {
		t.Errorf("LeftCopies = %v, %v while they are in use", left, err)
	}
	other, o := created(t, s)
	mustClose(t, o)
	if there, err := r.Copies(); err != nil || len(there) != 2 || there[0].Dir != first.Dir || there[1].Name() != "a3-3" {
		t.Errorf("Copies = %+v, %v, want the two that are in use", there, err)
	}
	if there, err := other.Copies(); err != nil || len(there) > 0 {
		t.Errorf("Copies of another run = %+v, %v", there, err)
	}
	type record struct{ Word string }
	var got record
	if err := first.Read(&got); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read before Write = %v", err)
	}
	if err := first.Write(record{"kept"}); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := s.LeftCopies()
	if err != nil || len(left) != 1 || left[0].Run != r.ID || left[0].Agent != "a3" || left[0].N != 1 {
		t.Fatalf("LeftCopies = %+v, %v, want the one that was given up", left, err)
	}
	if err := left[0].Read(&got); err != nil || got.Word != "kept" {
		t.Errorf("Read = %+v, %v", got, err)
	}
	if again, err := s.LeftCopies(); err != nil || len(again) > 0 {
		t.Errorf("LeftCopies = %+v, %v, want none twice", again, err)
	}

	// A copy that still has a workspace is not removed.
	workspace := filepath.Join(left[0].Trees(), "w")
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := left[0].Remove(); !errors.Is(err, errNotEmpty) {
		t.Errorf("Remove = %v, want that it is not empty", err)
	}
	left, err = s.LeftCopies() // it was given up all the same
	if err != nil || len(left) != 1 {
		t.Fatalf("LeftCopies = %+v, %v", left, err)
	}
	if err := os.Remove(workspace); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(left[0].Remove(), second.Remove()); err != nil {
		t.Error(err)
	}
	for _, c := range []*Copy{first, second} {
		if _, err := os.Lstat(c.Dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there still: %v", c.Dir, err)
		}
	}
	third, err := r.NewCopy("a3", none)
	if err != nil || third.N != 1 {
		t.Fatalf("NewCopy = %+v, %v, want the first again", third, err)
	}
	if err := third.Remove(); err != nil {
		t.Error(err)
	}
}
