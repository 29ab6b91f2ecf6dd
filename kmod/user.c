// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits per user. The kernel's own counters (ucounts, user_struct) are not open
 * to modules, so there is a small table by kuid: a user namespace does not evade
 * it, since it maps to kuids as well. Who has subordinate ids has a limit for each.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/slab.h>

#include "internal.h"

static DEFINE_HASHTABLE(se_users, 6);
static DEFINE_SPINLOCK(se_users_lock);

static struct se_user *se_user_find(kuid_t uid)
{
	struct se_user *user;

	lockdep_assert_held(&se_users_lock);

	hash_for_each_possible(se_users, user, node, __kuid_val(uid))
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

/**
 * se_user_get() - the record of the calling user
 *
 * Context: may sleep. Return: a reference, or NULL if there is no memory.
 */
struct se_user *se_user_get(void)
{
	struct se_user *fresh, *user;
	kuid_t uid = current_uid();

	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return NULL;
	fresh->uid = uid;

	spin_lock(&se_users_lock);
	user = se_user_find(uid);
	if (!user) {
		user = fresh;
		fresh = NULL;
		hash_add(se_users, &user->node, __kuid_val(uid));
	}
	user->refs++;
	spin_unlock(&se_users_lock);

	kfree(fresh);
	return user;
}

/**
 * se_user_put() - drop a reference
 * @user: from se_user_get()
 */
void se_user_put(struct se_user *user)
{
	spin_lock(&se_users_lock);
	if (--user->refs)
		user = NULL;
	else
		hash_del(&user->node);
	spin_unlock(&se_users_lock);

	kfree(user);
}

/**
 * se_user_charge() - count one more, unless that is too many
 * @count: &se_user.events or &se_user.entries
 * @max: the limit
 *
 * Return: false if the limit is reached.
 */
bool se_user_charge(atomic_t *count, unsigned int max)
{
	int old = atomic_read(count);

	do {
		if ((unsigned int)old >= max)
			return false;
	} while (!atomic_try_cmpxchg(count, &old, old + 1));
	return true;
}

/**
 * se_user_uncharge() - count one less
 * @count: as in se_user_charge()
 */
void se_user_uncharge(atomic_t *count)
{
	atomic_dec(count);
}
