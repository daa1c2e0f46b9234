/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c - counts the words of a text, again and again: the program of the pictures. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS	512
#define LENGTH	64

struct word {
	struct word *next;
	unsigned int count;
	char text[LENGTH];
};

static struct word *table[SLOTS];

__attribute__((noinline)) static unsigned int hash_of(const char *text)
{
	unsigned int hash = 5381;

	for (; *text; text++)
		hash = hash * 33 + (unsigned char)*text;
	return hash % SLOTS;
}

__attribute__((noinline)) static struct word *find_word(const char *text)
{
	unsigned int slot = hash_of(text);
	struct word *w;

	for (w = table[slot]; w; w = w->next)
		if (strcmp(w->text, text) == 0)
			return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		exit(1);
	strcpy(w->text, text);
	w->next = table[slot];
	return table[slot] = w;
}

__attribute__((noinline)) static const char *next_word(const char *at, char *word)
{
	int n = 0;

	while (*at && !isalpha((unsigned char)*at))
		at++;
	for (; isalpha((unsigned char)*at); at++)
		if (n < LENGTH - 1)
			word[n++] = tolower((unsigned char)*at);
	word[n] = '\0';
	return at;
}

static void count_words(const char *text)
{
	char word[LENGTH];

	while (*(text = next_word(text, word)) || *word)
		find_word(word)->count++;
}

int main(int argc, char *argv[])
{
	FILE *f = argc > 2 ? fopen(argv[1], "r") : NULL;
	static char text[1 << 20];

	if (!f || !fread(text, 1, sizeof(text) - 1, f))
		return 2;
	for (int rounds = atoi(argv[2]); rounds > 0; rounds--)
		count_words(text);
	return 0;
}
