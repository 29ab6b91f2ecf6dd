// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* table.c - results as a table, by libsmartcols */
#include <errno.h>

#include <libsmartcols.h>

#include "tool.h"

struct libscols_table *tool_table(const struct tool_column *columns, size_t n)
{
	struct libscols_table *table = scols_new_table();
	size_t i;

	for (i = 0; table && i < n; i++) {
		if (!scols_table_new_column(table, columns[i].name, 0,
					    columns[i].right ? SCOLS_FL_RIGHT : 0)) {
			scols_unref_table(table);
			table = NULL;
		}
	}
	return table;
}

int tool_table_line(struct libscols_table *table, const char *const *cells, size_t n)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	size_t i;

	if (!line)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (scols_line_set_data(line, i, cells[i] ? cells[i] : ""))
			return -ENOMEM;
	return 0;
}

int tool_table_print(struct libscols_table *table)
{
	int err = !scols_table_is_empty(table) && scols_print_table(table) ? -ENOMEM : 0;

	scols_unref_table(table);
	return err;
}
