/** What the files of each user, group and project use, and their limits. */
@NullMarked
package org.opendedup.sar.metadata.quota;

import org.jspecify.annotations.NullMarked;
