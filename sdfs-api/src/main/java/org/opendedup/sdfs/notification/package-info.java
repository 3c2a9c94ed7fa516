/** Declarations, of our own, of the progress events of OpenDedup SDFS 3.12; see {@link org.opendedup.collections}. */
package org.opendedup.sdfs.notification;
