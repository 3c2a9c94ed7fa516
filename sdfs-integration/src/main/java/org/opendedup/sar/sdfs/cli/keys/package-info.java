/**
 * The options of commands that name the source of a passphrase or key
 * ({@link org.opendedup.sar.sdfs.keys.SecretSource}).
 */
@NullMarked
package org.opendedup.sar.sdfs.cli.keys;

import org.jspecify.annotations.NullMarked;
