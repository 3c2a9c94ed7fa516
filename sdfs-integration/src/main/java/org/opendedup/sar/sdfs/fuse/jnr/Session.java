package org.opendedup.sar.sdfs.fuse.jnr;

import jnr.ffi.Pointer;

/**
 * The objects that libfuse made for the mount.
 *
 * @param bufferBytes largest size of a request, in bytes
 */
record Session(Pointer fuse, Pointer mountPoint, Pointer session, Pointer channel, int bufferBytes) {}
