/**
 * Manual pages and completions, made from the models of the commands when a release or an installation is made. No part
 * of the program: it may use all front ends.
 */
@NullMarked
package org.opendedup.sar.packaging;

import org.jspecify.annotations.NullMarked;
