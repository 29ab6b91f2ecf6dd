/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * tree.h - numbers in order: thresholds, deadlines, cookies
 *
 * A treap. Nodes are part of what they sort, so nothing is allocated and nothing
 * fails. Equal keys may repeat: they are told apart by their addresses, and the
 * priorities, which keep the tree flat, are scrambled addresses as well.
 */
#ifndef SYNCEVENT_TREE_H
#define SYNCEVENT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct se_node {
	struct se_node *left;
	struct se_node *right;
	uint64_t key;
};

struct se_tree {
	struct se_node *root;
};

/** se_of() - what a node is part of */
#define se_of(node, type, member)						\
	((type *)((char *)(node) - offsetof(type, member)))

static inline uint64_t se_tree_priority(const struct se_node *n)
{
	uint64_t x = (uintptr_t)n;

	x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

static inline bool se_tree_before(const struct se_node *a, const struct se_node *b)
{
	return a->key != b->key ? a->key < b->key : (uintptr_t)a < (uintptr_t)b;
}

/** se_tree_add() - add a node whose key is set */
static inline void se_tree_add(struct se_tree *t, struct se_node *n)
{
	struct se_node **at = &t->root, **left = &n->left, **right = &n->right, *rest;

	while (*at && se_tree_priority(*at) >= se_tree_priority(n))
		at = se_tree_before(n, *at) ? &(*at)->left : &(*at)->right;
	/* What was there is split in two, before and after the new one. */
	rest = *at;
	*at = n;
	while (rest) {
		if (se_tree_before(rest, n)) {
			*left = rest;
			left = &rest->right;
			rest = *left;
		} else {
			*right = rest;
			right = &rest->left;
			rest = *right;
		}
	}
	*left = NULL;
	*right = NULL;
}

/** se_tree_del() - take a node out, whose key has not changed since it was added */
static inline void se_tree_del(struct se_tree *t, struct se_node *n)
{
	struct se_node **at = &t->root, *left = n->left, *right = n->right;

	while (*at != n)
		at = se_tree_before(n, *at) ? &(*at)->left : &(*at)->right;
	while (left && right) {
		if (se_tree_priority(left) > se_tree_priority(right)) {
			*at = left;
			at = &left->right;
			left = *at;
		} else {
			*at = right;
			at = &right->left;
			right = *at;
		}
	}
	*at = left ? left : right;
}

/** se_tree_first() - the node with the lowest key, or NULL */
static inline struct se_node *se_tree_first(const struct se_tree *t)
{
	struct se_node *n = t->root;

	while (n && n->left)
		n = n->left;
	return n;
}

/** se_tree_last() - the node with the highest key, or NULL */
static inline struct se_node *se_tree_last(const struct se_tree *t)
{
	struct se_node *n = t->root;

	while (n && n->right)
		n = n->right;
	return n;
}

/** se_tree_find() - a node with this key, or NULL */
static inline struct se_node *se_tree_find(const struct se_tree *t, uint64_t key)
{
	struct se_node *n = t->root;

	while (n && n->key != key)
		n = key < n->key ? n->left : n->right;
	return n;
}

#endif /* SYNCEVENT_TREE_H */
