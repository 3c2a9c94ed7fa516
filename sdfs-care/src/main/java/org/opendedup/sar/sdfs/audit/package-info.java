/**
 * Who did what to a volume: {@link org.opendedup.sar.sdfs.audit.AuditLog} keeps it,
 * {@link org.opendedup.sar.sdfs.audit.Actor} says who.
 */
@NullMarked
package org.opendedup.sar.sdfs.audit;

import org.jspecify.annotations.NullMarked;
