/** Servers of HTTP that a client cannot exhaust: {@link org.opendedup.sar.sdfs.http.BoundedHttpServer}. */
@NullMarked
package org.opendedup.sar.sdfs.http;

import org.jspecify.annotations.NullMarked;
