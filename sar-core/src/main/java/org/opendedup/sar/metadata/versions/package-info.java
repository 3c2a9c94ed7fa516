/**
 * Snapshots: which there are, the versions of records that they keep, and reading the records of one. A record that is
 * changed or removed moves to the versions in the commit that has the change, if a snapshot has it (docs/adr/0113).
 */
@NullMarked
package org.opendedup.sar.metadata.versions;

import org.jspecify.annotations.NullMarked;
