/**
 * Namespace, recipes and reference counts: together with the containers, the authoritative data of a volume. One
 * key-value database; changes are collected in memory, visible to every reader, until a commit writes them in one
 * atomic, durable batch.
 */
@NullMarked
package org.opendedup.sar.metadata;

import org.jspecify.annotations.NullMarked;
