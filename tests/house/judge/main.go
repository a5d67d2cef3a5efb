// Judges receipts and checkpoints with the code of Go's own checksum database. It knows nothing of wheeld.
//
// Standard input: one JSON object with `key` (a verifier key), `receipt` (a tlog-proof with the record as `extra`), and,
// for a later checkpoint, `note`, `consistency` (hashes). Standard output: one line for each check, "good" or why not.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type question struct {
	Key, Receipt, Note string
	Consistency        []string
}

type tree struct {
	size int64
	root tlog.Hash
}

func main() {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		panic(err)
	}
	verifier, err := note.NewVerifier(asked.Key)
	if err != nil {
		panic(err)
	}
	head, checkpoint, _ := strings.Cut(asked.Receipt, "\n\n")
	earlier, err := open(checkpoint, verifier)
	say("checkpoint", err)
	say("inclusion", inclusion(strings.Split(head, "\n"), earlier))
	if asked.Note != "" {
		later, err := open(asked.Note, verifier)
		say("later checkpoint", err)
		say("consistency", tlog.CheckTree(hashes(asked.Consistency), later.size, later.root, earlier.size, earlier.root))
	}
}

func say(what string, err error) {
	if err == nil {
		fmt.Println(what + ": good")
	} else {
		fmt.Println(what+":", err)
	}
}

func open(signed string, verifier note.Verifier) (tree, error) {
	opened, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if err != nil {
		return tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	return tree{size, hash(lines[2])}, err
}

func inclusion(lines []string, in tree) error {
	record, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra "))
	if err != nil {
		return err
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64)
	if err != nil {
		return err
	}
	return tlog.CheckRecord(hashes(lines[3:]), in.size, in.root, index, tlog.RecordHash(record))
}

func hash(text string) (found tlog.Hash) {
	raw, _ := base64.StdEncoding.DecodeString(text)
	copy(found[:], raw)
	return
}

func hashes(texts []string) (found []tlog.Hash) {
	for _, text := range texts {
		found = append(found, hash(text))
	}
	return
}
