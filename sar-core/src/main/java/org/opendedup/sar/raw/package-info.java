/**
 * Raw files: new files that lie whole, and not deduplicated, on the fast tier until they are migrated (TDDFS paper,
 * §3.1: newly created files). This package has their backing files, what is known of each, and the rules that choose
 * which is migrated. It knows nothing of inodes' names, recipes or chunks.
 */
@NullMarked
package org.opendedup.sar.raw;

import org.jspecify.annotations.NullMarked;
