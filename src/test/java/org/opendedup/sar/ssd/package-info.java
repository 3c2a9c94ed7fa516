/**
 * An SSD whose records are not verified: for the controls of tests of wrong bytes. It is in the package of the store,
 * because the constructor for it is not public.
 */
package org.opendedup.sar.ssd;
