/** Where the bindings log. */
package org.lavakv.log;
