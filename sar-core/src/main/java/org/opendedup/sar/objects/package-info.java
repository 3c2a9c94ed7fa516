/**
 * Object stores: named bytes that are put once, read in ranges, listed and deleted. An
 * {@link org.opendedup.sar.objects.ObjectStore} is a folder here, or what a provider of another module opens for the
 * scheme of an address. {@code ObjectStoreContract} in the tests says what every implementation must do.
 */
@NullMarked
package org.opendedup.sar.objects;

import org.jspecify.annotations.NullMarked;
