/**
 * A tier that does not verify its SSD: for the controls of tests of wrong bytes. It is in the package of the tier,
 * because the constructor for it is not public.
 */
package org.opendedup.sar.hot;
