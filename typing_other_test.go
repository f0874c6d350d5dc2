//go:build !linux

package main

import "errors"

func typeOnTerminal(string, []string, []string, []move) ([]byte, error) {
	return nil, errors.New("no terminal can be had here")
}
