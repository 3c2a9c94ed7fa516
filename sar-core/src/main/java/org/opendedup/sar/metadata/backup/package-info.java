/**
 * Folders with backups of a metadata database: what a backup consists of, and how backups share tables. Knows nothing
 * of the records in the database.
 */
@NullMarked
package org.opendedup.sar.metadata.backup;

import org.jspecify.annotations.NullMarked;
