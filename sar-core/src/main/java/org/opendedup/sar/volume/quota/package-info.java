/** Limits of users, groups and folders, as commands set and show them. */
@NullMarked
package org.opendedup.sar.volume.quota;

import org.jspecify.annotations.NullMarked;
