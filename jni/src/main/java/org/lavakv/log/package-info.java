/** Logging of the bindings. */
package org.lavakv.log;
