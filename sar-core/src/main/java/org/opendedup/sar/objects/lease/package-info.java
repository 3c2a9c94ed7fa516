/**
 * Who may use what is in an object store: one owner at a time, by an object that the owner replaces every few seconds.
 * {@link org.opendedup.sar.objects.lease.LeaseRequest} gets a {@link org.opendedup.sar.objects.lease.Lease}, which
 * {@link org.opendedup.sar.objects.lease.LeaseKeeper} renews. docs/adr/0136 gives the reasons.
 */
@NullMarked
package org.opendedup.sar.objects.lease;

import org.jspecify.annotations.NullMarked;
