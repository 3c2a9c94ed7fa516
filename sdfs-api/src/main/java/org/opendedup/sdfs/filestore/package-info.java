/**
 * Declarations, of our own, of the types of OpenDedup SDFS 3.12 that a chunk store is made of; see
 * {@link org.opendedup.collections}.
 */
package org.opendedup.sdfs.filestore;
